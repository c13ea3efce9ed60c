// harness/worker/instruction_counts.cpp - CUPTI's SASS metrics of one call, instruction by instruction.
#include "harness/worker/instruction_counts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "harness/worker/cupti_sass.h"
#include "harness/worker/machine_code.h"
#include "harness/worker/pc_sampling.h"

namespace apo {
namespace {

constexpr std::uint64_t kNoMetric = std::numeric_limits<std::uint64_t>::max();

// Two ways in which CUPTI comes to know a kernel: as it runs first, or all of the context's at once.
struct Way {
  bool lazily;
};
constexpr Way kWays[] = {{.lazily = true}, {.lazily = false}};

class InstructionCounter {
 public:
  InstructionCounter(const cupti::Library& library, const cupti::Sass& sass, const ProfiledGpu& gpu,
                     const CountedCall& call)
      : library_(library), sass_(sass), gpu_(gpu), call_(call) {}
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  ~InstructionCounter() { end(); }

  using Values = std::vector<std::int64_t>;
  using Place = std::pair<std::string, std::uint32_t>;  // kernel, offset

  bool find_metrics(const std::string& chip);
  bool run(Way way, cuda::Result& error);
  const std::map<Place, Values>& counts() const { return counts_; }
  bool has_all_kernels() const;
  const std::string& missing() const { return missing_; }

 private:
  bool ok(cupti::Result result, const char* during) {
    if (result != cupti::kSuccess) {
      missing_ = cupti::explain_trouble(library_, result, during);
    }
    return result == cupti::kSuccess;
  }
  bool enable(Way way, cuda::Result& error);
  bool read();
  void add(const cupti::SassRecord& record, std::size_t values);
  void end();

  const cupti::Library& library_;
  const cupti::Sass& sass_;
  const ProfiledGpu& gpu_;
  const CountedCall& call_;
  std::map<std::uint64_t, std::size_t> kinds_;  // CountedOf by CUPTI's number
  std::vector<cupti::SassConfig> configs_;
  bool configured_ = false;
  bool enabled_ = false;
  std::map<Place, Values> counts_;
  std::string missing_;
};

bool InstructionCounter::find_metrics(const std::string& chip) {
  const std::vector<std::string>& names = instruction_counters();
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    cupti::GetSassProperties asked{.chip = chip.c_str(), .name = names[kind].c_str()};
    if (!ok(sass_.properties(&asked), "asking for the counts of instructions")) {
      return false;
    }
    kinds_[asked.metric.id] = kind;
    configs_.push_back({.id = asked.metric.id});
  }
  return true;
}

bool InstructionCounter::enable(Way way, cuda::Result& error) {
  error = call_.prepare();
  if (error != cuda::kSuccess) {
    return false;
  }
  cupti::SetSassConfig config{
      .count = configs_.size(), .configs = configs_.data(), .device_index = static_cast<std::uint32_t>(gpu_.index)};
  if (!ok(sass_.set_config(&config), "configuring the counts of instructions")) {
    return false;
  }
  configured_ = true;
  error = way.lazily ? cuda::kSuccess : call_.reload();
  cupti::EnableSass asked{.context = gpu_.context, .lazily = static_cast<std::uint8_t>(way.lazily ? 1 : 0)};
  if (error != cuda::kSuccess || !ok(sass_.enable(&asked), "patching the kernels")) {
    return false;
  }
  enabled_ = true;
  error = way.lazily ? call_.reload() : cuda::kSuccess;
  return error == cuda::kSuccess;
}

bool InstructionCounter::run(Way way, cuda::Result& error) {
  counts_.clear();
  missing_.clear();
  if (!enable(way, error)) {
    end();
    return false;
  }
  error = call_.launch();
  const cuda::Result finished = call_.wait();
  error = error != cuda::kSuccess ? error : finished;
  const bool done = error == cuda::kSuccess && read();
  end();
  return done;
}

// The header leaves open whether `instances` is for one metric or for all of them: there is room for either.
bool InstructionCounter::read() {
  cupti::GetSassData sized{.context = gpu_.context};
  if (!ok(sass_.data(&sized), "asking for the number of counts")) {
    return false;
  }
  if (sized.records == 0 || sized.instances == 0) {
    missing_ = "CUPTI patched no instruction of these kernels";
    return false;
  }
  const std::size_t each = std::max<std::size_t>(1, sized.instances) * configs_.size();
  std::vector<cupti::SassValue> values(each * sized.records, {.id = kNoMetric, .value = 0});
  std::vector<cupti::SassRecord> records(sized.records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].values = &values[i * each];
  }
  cupti::FlushSass flushed{
      .context = gpu_.context, .records = records.size(), .instances = sized.instances, .data = records.data()};
  if (!ok(sass_.flush(&flushed), "reading the counts of instructions")) {
    return false;
  }
  for (const cupti::SassRecord& record : records) {
    add(record, each);
  }
  return true;
}

void InstructionCounter::add(const cupti::SassRecord& record, std::size_t values) {
  if (record.function == nullptr) {
    return;
  }
  Values& sums = counts_[{record.function, record.pc_offset}];
  sums.resize(kCountedKinds);
  for (std::size_t i = 0; i < values; ++i) {
    if (const auto kind = kinds_.find(record.values[i].id); kind != kinds_.end()) {
      sums[kind->second] += static_cast<std::int64_t>(record.values[i].value);
    }
  }
}

bool InstructionCounter::has_all_kernels() const {
  return std::all_of(call_.kernels.begin(), call_.kernels.end(), [&](const std::string& kernel) {
    const auto first = counts_.lower_bound({kernel, 0});
    return first != counts_.end() && first->first.first == kernel;
  });
}

// Errors are passed over: after a kernel's fault nothing of CUPTI works, and the fault is what is reported.
void InstructionCounter::end() {
  if (enabled_) {
    cupti::DisableSass asked{.context = gpu_.context};
    sass_.disable(&asked);
    enabled_ = false;
  }
  if (configured_) {
    cupti::UnsetSassConfig asked{.device_index = static_cast<std::uint32_t>(gpu_.index)};
    sass_.unset_config(&asked);
    configured_ = false;
  }
}

// Looking a line up takes CUPTI up to a millisecond.
bool needs_line(const InstructionCount& one) {
  return one.values[kDivergent] > 0 || one.values[kGlobalSectors] > one.values[kGlobalIdeal] ||
         one.values[kLocalSectors] > 0 || one.values[kSharedWavefronts] > one.values[kSharedIdeal] ||
         one.values[kThreads] < 32 * one.values[kWarps] || one.opcode == "BAR" || one.opcode.starts_with("ATOM") ||
         one.opcode == "RED";
}

void write_rows(const InstructionCounter& counter, const cupti::Sampling* lines, const CountedCall& call,
                InstructionReport& report) {
  std::map<std::string, MachineCode> codes;
  for (const std::string& kernel : call.kernels) {
    codes.try_emplace(kernel, call.cubin, kernel);
  }
  for (const auto& [place, values] : counter.counts()) {
    const auto code = codes.find(place.first);
    if (code == codes.end() || values[kWarps] == 0) {
      continue;  // of the driver's own kernels, or never executed
    }
    InstructionCount one{.kernel = place.first,
                         .pc_offset = place.second,
                         .opcode = code->second.opcode(place.second),
                         .file = "",
                         .values = values};
    if (lines != nullptr && needs_line(one)) {
      const SourcePlace source = source_place(*lines, call.cubin, one.kernel, place.second);
      one.file = source.file;
      one.line = source.line;
    }
    report.instructions.push_back(std::move(one));
  }
}

}  // namespace

const std::vector<std::string>& instruction_counters() {
  static const std::vector<std::string> names = {"smsp__sass_inst_executed",
                                                 "smsp__sass_thread_inst_executed",
                                                 "smsp__sass_branch_targets_threads_divergent",
                                                 "smsp__sass_sectors_mem_global",
                                                 "smsp__sass_sectors_mem_global_ideal",
                                                 "smsp__sass_sectors_mem_local",
                                                 "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                                                 "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"};
  return names;
}

InstructionReport count_instructions(const ProfiledGpu& gpu, const CountedCall& call, cuda::Result& error) {
  InstructionReport report{.kernels = call.kernels};
  error = cuda::kSuccess;
  const auto library = cupti::load_library(report.missing);
  const auto profiler = library == nullptr ? nullptr : cupti::load_profiler(*library, report.missing);
  const auto sass = profiler == nullptr ? nullptr : cupti::load_sass(*library, report.missing);
  if (sass == nullptr) {
    return report;
  }
  cupti::Initialize initialize;
  if (const auto result = profiler->initialize(&initialize); result != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(*library, result, "starting the profiler");
    return report;
  }
  report.missing = cupti::unsupported_reason(*library, *profiler, gpu.device, cupti::kApiSass);
  const std::string chip = report.missing.empty() ? cupti::chip_of(*library, *profiler, gpu.index, report.missing) : "";
  if (chip.empty()) {
    return report;
  }
  std::string no_lines;
  const auto lines = cupti::load_sampling(*library, no_lines);
  InstructionCounter counter(*library, *sass, gpu, call);
  const bool known = counter.find_metrics(chip);
  for (const Way way : kWays) {
    if (known && error == cuda::kSuccess && !counter.has_all_kernels()) {
      counter.run(way, error);
    }
  }
  if (error != cuda::kSuccess) {
    return report;
  }
  report.missing = counter.missing();
  if (report.missing.empty() && !counter.has_all_kernels()) {
    report.missing = "CUPTI counted only some of the kernels of a call";
  }
  if (report.missing.empty()) {
    write_rows(counter, lines.get(), call, report);
  }
  return report;
}

}  // namespace apo
