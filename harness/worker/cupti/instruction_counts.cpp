// harness/worker/cupti/instruction_counts.cpp - CUPTI's SASS metrics of one call, instruction by instruction.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "harness/core/text.h"
#include "harness/worker/code/kernel_code.h"
#include "harness/worker/cupti/instruction_api.h"
#include "harness/worker/cupti/profilers.h"
#include "harness/worker/cupti/range_profiler.h"

namespace apo {
namespace {

constexpr std::uint64_t kNoMetric = std::numeric_limits<std::uint64_t>::max();

// CUPTI patches a kernel as it first runs. On the drivers that were tried it counts one kernel of a process and no
// other, and a second configuration is refused for want of memory, so that a call of several kernels needs as many
// processes. Counts are believed only for kernels whose first instruction as many warps have executed as were launched.
// The module is loaded before CUPTI is told to patch, or behind that, so that CUPTI sees it being loaded.
enum class Way : std::uint8_t { reload_behind, reload_first };

class InstructionCounter {
 public:
  InstructionCounter(const cupti::Library& library, const cupti::Sass& sass, const ProfiledGpu& gpu,
                     const CountedCall& call)
      : library_(library), sass_(sass), gpu_(gpu), call_(call) {}
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  ~InstructionCounter() { unset_config(); }

  using Values = std::vector<std::int64_t>;
  using Place = std::pair<std::string, std::uint32_t>;  // kernel, offset

  bool find_metrics(const std::string& chip);
  // One kernel in one way after the other, until it is counted; several in the first. CUDA's error.
  cuda::Result count(const std::vector<std::string>& kernels);
  bool has_counted(const std::vector<std::string>& kernels) const;
  const std::map<Place, Values>& counts() const { return counts_; }
  const std::vector<std::string>& attempts() const { return attempts_; }
  const std::string& trouble() const { return trouble_; }

 private:
  bool ok(cupti::Result result, const char* during) {
    if (result != cupti::kSuccess) {
      trouble_ = cupti::explain_trouble(library_, result, during);
    }
    return result == cupti::kSuccess;
  }
  cuda::Result attempt(Way way, const std::vector<std::string>& kernels);
  bool run(Way way, std::size_t first, std::size_t end, cuda::Result& error);
  bool enable(Way way, std::size_t first, cuda::Result& error);
  bool launch(std::size_t first, std::size_t end, cuda::Result& error);
  bool read();
  void add(const cupti::SassRecord& record, std::size_t values);
  std::int64_t counted_warps(const std::string& kernel) const;
  std::int64_t launched_warps(const std::string& kernel) const;
  bool set_config();
  void unset_config();
  bool disable();

  const cupti::Library& library_;
  const cupti::Sass& sass_;
  const ProfiledGpu& gpu_;
  const CountedCall& call_;
  std::map<std::uint64_t, std::size_t> kinds_;  // CountedOf by CUPTI's number
  std::vector<cupti::SassConfig> configs_;
  bool configured_ = false;
  bool enabled_ = false;
  std::map<Place, Values> attempted_;  // of the attempt under way
  std::map<Place, Values> counts_;     // of the kernels that were counted
  std::vector<std::string> attempts_;
  std::string trouble_;
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

bool InstructionCounter::has_counted(const std::vector<std::string>& kernels) const {
  return std::all_of(kernels.begin(), kernels.end(), [&](const std::string& kernel) {
    const auto first = counts_.lower_bound({kernel, 0});
    return first != counts_.end() && first->first.first == kernel;
  });
}

cuda::Result InstructionCounter::count(const std::vector<std::string>& kernels) {
  cuda::Result error = attempt(Way::reload_behind, kernels);
  if (error == cuda::kSuccess && kernels.size() == 1 && !has_counted(kernels)) {
    error = attempt(Way::reload_first, kernels);
  }
  return error;
}

// From the first launch of these kernels to their last one. What is counted of them is kept if it is all of it.
cuda::Result InstructionCounter::attempt(Way way, const std::vector<std::string>& kernels) {
  const auto wanted = [&](const LaunchedKernel& one) {
    return std::find(kernels.begin(), kernels.end(), one.name) != kernels.end();
  };
  const auto first = std::find_if(call_.kernels.begin(), call_.kernels.end(), wanted);
  const auto last = std::find_if(call_.kernels.rbegin(), call_.kernels.rend(), wanted);
  attempted_.clear();
  trouble_.clear();
  cuda::Result error = cuda::kSuccess;
  run(way, static_cast<std::size_t>(first - call_.kernels.begin()),
      static_cast<std::size_t>(call_.kernels.rend() - last), error);
  std::string came_to = trouble_;
  for (const std::string& kernel : kernels) {
    const std::int64_t launched = launched_warps(kernel);
    const std::int64_t counted = counted_warps(kernel);
    came_to += fmt::format("{}{} {} of {} warps", came_to.empty() ? "" : ", ", kernel, counted, launched);
    for (auto one = attempted_.lower_bound({kernel, 0});
         counted == launched && one != attempted_.end() && one->first.first == kernel; ++one) {
      counts_.insert_or_assign(one->first, one->second);
    }
  }
  attempts_.push_back((way == Way::reload_first ? "in the module loaded before: " : "patched as they run: ") + came_to);
  return error;
}

// At its first instruction, which each warp executes once.
std::int64_t InstructionCounter::counted_warps(const std::string& kernel) const {
  const auto first = attempted_.find({kernel, 0});
  return first == attempted_.end() ? 0 : first->second[kWarps];
}

std::int64_t InstructionCounter::launched_warps(const std::string& kernel) const {
  std::int64_t warps = 0;
  for (const LaunchedKernel& one : call_.kernels) {
    warps += one.name == kernel ? one.warps : 0;
  }
  return warps;
}

bool InstructionCounter::set_config() {
  if (!configured_) {
    cupti::SetSassConfig config{
        .count = configs_.size(), .configs = configs_.data(), .device_index = static_cast<std::uint32_t>(gpu_.index)};
    configured_ = ok(sass_.set_config(&config), "configuring the counts of instructions");
  }
  return configured_;
}

// Errors are passed over: after a kernel's fault nothing of CUPTI works, and the fault is what is reported.
void InstructionCounter::unset_config() {
  if (disable() && configured_) {
    cupti::UnsetSassConfig asked{.device_index = static_cast<std::uint32_t>(gpu_.index)};
    sass_.unset_config(&asked);
    configured_ = false;
  }
}

bool InstructionCounter::disable() {
  if (enabled_) {
    cupti::DisableSass asked{.context = gpu_.context};
    enabled_ = !ok(sass_.disable(&asked), "putting the kernels back");
  }
  return !enabled_;
}

// Up to the launches that are counted, which those before them may have to prepare.
bool InstructionCounter::enable(Way way, std::size_t first, cuda::Result& error) {
  if (!disable()) {
    return false;
  }
  error = call_.prepare();
  if (error == cuda::kSuccess && (way == Way::reload_first || first > 0)) {
    error = call_.reload();
  }
  error = error != cuda::kSuccess ? error : call_.launch(0, first);
  error = error != cuda::kSuccess ? error : call_.wait();
  cupti::EnableSass asked{.context = gpu_.context, .lazily = 1};
  if (error != cuda::kSuccess || !set_config() || !ok(sass_.enable(&asked), "patching the kernels")) {
    return false;
  }
  enabled_ = true;
  error = way == Way::reload_first ? cuda::kSuccess : call_.reload();
  return error == cuda::kSuccess;
}

bool InstructionCounter::launch(std::size_t first, std::size_t end, cuda::Result& error) {
  error = call_.launch(first, end);
  const cuda::Result finished = call_.wait();
  error = error != cuda::kSuccess ? error : finished;
  return error == cuda::kSuccess && read();
}

bool InstructionCounter::run(Way way, std::size_t first, std::size_t end, cuda::Result& error) {
  if (way != Way::reload_first && first > 0 && call_.keeps_state) {
    trouble_ = "a reload would reset what the launches before it left in the module's variables";
    return false;
  }
  const bool done = enable(way, first, error) && launch(first, end, error);
  const std::string trouble = trouble_;
  disable();
  trouble_ = trouble.empty() ? trouble_ : trouble;
  return done;
}

// The header leaves open whether `instances` is for one metric or for all of them: there is room for either.
bool InstructionCounter::read() {
  cupti::GetSassData sized{.context = gpu_.context};
  if (!ok(sass_.data(&sized), "asking for the number of counts")) {
    return false;
  }
  if (sized.records == 0 || sized.instances == 0) {
    trouble_ = "CUPTI patched no instruction of these kernels";
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
  Values& sums = attempted_[{record.function, record.pc_offset}];
  sums.resize(kCountedKinds);
  for (std::size_t i = 0; i < values; ++i) {
    if (const auto kind = kinds_.find(record.values[i].id); kind != kinds_.end()) {
      sums[kind->second] += static_cast<std::int64_t>(record.values[i].value);
    }
  }
}

void write_rows(const InstructionCounter& counter, const CountedCall& call, InstructionReport& report) {
  const KernelCode kernels(call.kernels);
  for (const auto& [place, values] : counter.counts()) {
    if (!kernels.has(place.first) || values[kWarps] == 0) {
      continue;  // of the driver's own kernels, or never executed
    }
    const SourcePlace source = kernels.place(place.first, place.second);
    report.instructions.push_back({.kernel = place.first,
                                   .pc_offset = place.second,
                                   .opcode = kernels.code(place.first).opcode(place.second),
                                   .file = source.file,
                                   .line = source.line,
                                   .values = values});
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

InstructionReport count_instructions(const ProfiledGpu& gpu, const CountedCall& call, const std::string& kernel,
                                     cuda::Result& error) {
  InstructionReport report;
  std::ranges::transform(call.kernels, std::back_inserter(report.kernels), &LaunchedKernel::name);
  error = cuda::kSuccess;
  const auto started = cupti::start_profiler<cupti::Sass>(gpu.device, cupti::kApiSass, report.missing);
  const std::string chip =
      started ? cupti::chip_of(*started->library, *started->profiler, gpu.index, report.missing) : "";
  if (chip.empty()) {
    return report;
  }
  InstructionCounter counter(*started->library, *started->functions, gpu, call);
  if (!counter.find_metrics(chip)) {
    report.missing = counter.trouble();
    return report;
  }
  if (!kernel.empty() && std::ranges::find(report.kernels, kernel) == report.kernels.end()) {
    report.missing = "the call has no kernel '" + kernel + "'";
    return report;
  }
  const std::vector<std::string> wanted = kernel.empty() ? each_once(report.kernels) : std::vector{kernel};
  error = counter.count(wanted);
  report.attempts = counter.attempts();
  if (error != cuda::kSuccess) {
    return report;
  }
  if (counter.has_counted(wanted)) {
    write_rows(counter, call, report);
  } else {
    report.missing = "CUPTI did not count all kernels: " + join(report.attempts, "; ");
  }
  return report;
}

}  // namespace apo
