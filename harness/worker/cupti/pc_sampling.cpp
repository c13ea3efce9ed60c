// harness/worker/cupti/pc_sampling.cpp - CUPTI's PC samples, summed up by offset and mapped to lines.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "harness/worker/cupti/instruction_api.h"
#include "harness/worker/cupti/metric_names.h"
#include "harness/worker/cupti/profiled_gpu.h"
#include "harness/worker/cupti/profilers.h"
#include "harness/worker/cupti/range_profiler.h"

namespace apo {
namespace {

constexpr std::size_t kPcsAtOnce = 8192;
constexpr std::chrono::milliseconds kPauseWhileBusy{250};
constexpr std::chrono::milliseconds kDecodePause{150};  // CUPTI's thread decodes every 100 ms
constexpr int kMostReads = 400;
constexpr int kMostEmptyReads = 5;

// Room for records, as CUPTI takes it.
struct SampleBuffer {
  explicit SampleBuffer(std::size_t reasons) : counts(kPcsAtOnce * reasons), records(kPcsAtOnce) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].size = sizeof records[i];
      records[i].stalls = &counts[i * reasons];
    }
    data.size = sizeof data;
    data.most_pcs = records.size();
    data.records = records.data();
  }
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;

  std::vector<cupti::StallCount> counts;
  std::vector<cupti::PcRecord> records;
  cupti::SamplingData data{};
};

// Samples of one state at one instruction, by its two reasons.
struct Samples {
  std::int64_t plain = 0;
  std::int64_t not_issued = 0;

  std::int64_t all(bool disjoint) const { return disjoint ? plain + not_issued : std::max(plain, not_issued); }
};

class StallSampler {
 public:
  StallSampler(const cupti::Library& library, const cupti::Sampling& sampling, const ProfiledGpu& gpu,
               const SampledCall& call)
      : library_(library), sampling_(sampling), gpu_(gpu), call_(call) {}
  StallSampler(const StallSampler&) = delete;
  StallSampler& operator=(const StallSampler&) = delete;
  ~StallSampler();

  void run(int repetitions, int period_log2, cuda::Result& error, SampleReport& report);

 private:
  bool ok(cupti::Result result, const char* during, SampleReport& report) const;
  bool enable(SampleReport& report);
  bool read_reasons(SampleReport& report);
  bool configure(int period_log2, SampleReport& report);
  bool work(int repetitions, cuda::Result& error, SampleReport& report);
  bool drain(SampleReport& report);
  void add(const cupti::SamplingData& data, SampleReport& report);
  bool reasons_are_disjoint(const SampleReport& report) const;
  void write_rows(SampleReport& report) const;

  const cupti::Library& library_;
  const cupti::Sampling& sampling_;
  const ProfiledGpu& gpu_;
  const SampledCall& call_;
  bool enabled_ = false;
  std::vector<std::uint32_t> reason_indices_;
  struct Reason {
    std::string stall;  // "" for what is no state of a warp
    bool not_issued = false;
  };
  std::map<std::uint32_t, Reason> reasons_;  // by index
  std::unique_ptr<SampleBuffer> at_end_;     // CUPTI fills it when sampling is disabled
  std::unique_ptr<SampleBuffer> buffer_;
  std::map<std::pair<std::string, std::uint64_t>, std::map<std::string, Samples>> sums_;
};

bool StallSampler::ok(cupti::Result result, const char* during, SampleReport& report) const {
  if (result != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(library_, result, during);
  }
  return result == cupti::kSuccess;
}

// Waits as long as another process uses the counters of this GPU.
bool StallSampler::enable(SampleReport& report) {
  const auto until = std::chrono::steady_clock::now() + kProfilerPatience;
  cupti::OfContext asked{.context = gpu_.context};
  cupti::Result result = sampling_.enable(&asked);
  while (result == cupti::kHardwareBusy && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kPauseWhileBusy);
    result = sampling_.enable(&asked);
  }
  enabled_ = result == cupti::kSuccess;
  return ok(result, "enabling PC sampling", report);
}

bool StallSampler::read_reasons(SampleReport& report) {
  std::size_t count = 0;
  cupti::CountStallReasons counted{.context = gpu_.context, .count = &count};
  if (!ok(sampling_.count_reasons(&counted), "asking for the stall reasons", report)) {
    return false;
  }
  reason_indices_.assign(count, 0);
  std::vector<std::array<char, cupti::kStallReasonBytes>> names(count);
  std::vector<char*> pointers;
  for (auto& name : names) {
    name.fill('\0');
    pointers.push_back(name.data());
  }
  cupti::GetStallReasons asked{
      .context = gpu_.context, .count = count, .indices = reason_indices_.data(), .names = pointers.data()};
  if (!ok(sampling_.reasons(&asked), "asking for the stall reasons", report)) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    names[i].back() = '\0';
    reasons_[reason_indices_[i]] = {.stall = stall_of_sample(names[i].data()),
                                    .not_issued = is_not_issued(names[i].data())};
  }
  return true;
}

bool StallSampler::configure(int period_log2, SampleReport& report) {
  at_end_ = std::make_unique<SampleBuffer>(reason_indices_.size());
  buffer_ = std::make_unique<SampleBuffer>(reason_indices_.size());
  std::array<cupti::SamplingSetting, 5> settings;
  settings[0].attribute = cupti::kSamplingPeriod;
  settings[0].number = static_cast<std::uint32_t>(period_log2);
  settings[1].attribute = cupti::kSamplingStallReasons;
  settings[1].reasons = {.count = reason_indices_.size(), .indices = reason_indices_.data()};
  settings[2].attribute = cupti::kSamplingMode;
  settings[2].number = cupti::kContinuous;
  settings[3].attribute = cupti::kSamplingStartStop;
  settings[3].number = 1;
  settings[4].attribute = cupti::kSamplingBuffer;
  settings[4].pointer = &at_end_->data;
  cupti::SetSampling asked{.context = gpu_.context, .count = settings.size(), .settings = settings.data()};
  if (!ok(sampling_.set(&asked), "configuring PC sampling", report)) {
    return false;
  }
  return std::all_of(settings.begin(), settings.end(), [&](const cupti::SamplingSetting& one) {
    return ok(one.status, "configuring PC sampling", report);
  });
}

bool StallSampler::work(int repetitions, cuda::Result& error, SampleReport& report) {
  error = call_.reload();
  cupti::OfContext start{.context = gpu_.context};
  if (error != cuda::kSuccess || !ok(sampling_.start(&start), "starting PC sampling", report)) {
    return false;
  }
  for (int i = 0; i < repetitions && error == cuda::kSuccess; ++i) {
    error = call_.prepare();
    error = error != cuda::kSuccess ? error : call_.launch();
  }
  const cuda::Result finished = call_.wait();
  error = error != cuda::kSuccess ? error : finished;
  cupti::OfContext stop{.context = gpu_.context};
  const cupti::Result stopped = sampling_.stop(&stop);
  return error == cuda::kSuccess && ok(stopped, "stopping PC sampling", report);
}

bool StallSampler::drain(SampleReport& report) {
  cupti::GetSamples asked{.context = gpu_.context, .data = &buffer_->data};
  int empty_reads = 0;
  for (int i = 0; i < kMostReads; ++i) {
    if (!ok(sampling_.get(&asked), "reading PC samples", report)) {
      return false;
    }
    add(buffer_->data, report);
    if (buffer_->data.buffer_full != 0) {
      report.missing = "the GPU's buffer for PC samples was full";
      return false;
    }
    if (buffer_->data.remaining_pcs > 0) {
      continue;
    }
    // Once something came and nothing is left, one read later shows whether CUPTI's thread had more.
    empty_reads = buffer_->data.pcs == 0 ? empty_reads + 1 : 0;
    if (empty_reads > (sums_.empty() ? kMostEmptyReads : 0)) {
      break;
    }
    std::this_thread::sleep_for(kDecodePause);
  }
  return true;
}

// The functions' names belong to us; they are few, shared by records, and the process ends soon: they are not freed.
void StallSampler::add(const cupti::SamplingData& data, SampleReport& report) {
  for (std::size_t i = 0; i < std::min(data.pcs, data.most_pcs); ++i) {
    const cupti::PcRecord& record = data.records[i];
    auto& sums = sums_[{record.function != nullptr ? record.function : "", record.pc_offset}];
    for (std::size_t j = 0; j < std::min(record.stall_count, reason_indices_.size()); ++j) {
      const Reason& reason = reasons_[record.stalls[j].reason];
      if (!reason.stall.empty() && record.stalls[j].samples > 0) {
        Samples& samples = sums[reason.stall];
        (reason.not_issued ? samples.not_issued : samples.plain) += record.stalls[j].samples;
      }
    }
  }
  report.total += static_cast<std::int64_t>(data.total_samples - std::min(data.total_samples, data.other_samples));
  report.dropped += static_cast<std::int64_t>(data.dropped_samples);
}

// The documentation does not say whether a state's first reason includes the samples of the second; where both together
// are no more than all samples, it does not.
bool StallSampler::reasons_are_disjoint(const SampleReport& report) const {
  std::int64_t both = 0;
  for (const auto& [pc, stalls] : sums_) {
    for (const auto& [stall, samples] : stalls) {
      both += samples.plain + samples.not_issued;
    }
  }
  return both <= report.total;
}

void StallSampler::write_rows(SampleReport& report) const {
  const bool disjoint = reasons_are_disjoint(report);
  const KernelCode kernels(call_.kernels);
  for (const auto& [pc, stalls] : sums_) {
    if (pc.first == call_.prepares_with) {
      for (const auto& [stall, samples] : stalls) {
        report.total -= samples.all(disjoint);
      }
      continue;
    }
    const SourcePlace place = kernels.place(pc.first, pc.second);
    const MachineCode& code = kernels.code(pc.first);
    for (const auto& [stall, samples] : stalls) {
      const std::uint64_t cause = code.held_up_by(pc.second, stall);
      const SourcePlace cause_place = kernels.place(pc.first, cause);
      report.samples.push_back({.kernel = pc.first,
                                .pc_offset = static_cast<std::int64_t>(pc.second),
                                .file = place.file,
                                .line = place.line,
                                .stall = stall,
                                .samples = samples.all(disjoint),
                                .opcode = code.opcode(cause),
                                .cause_file = cause_place.file,
                                .cause_line = cause_place.line,
                                .inlined = place.inlined});
    }
  }
}

void StallSampler::run(int repetitions, int period_log2, cuda::Result& error, SampleReport& report) {
  if (!enable(report) || !read_reasons(report) || !configure(period_log2, report) ||
      !work(repetitions, error, report) || !drain(report)) {
    return;
  }
  write_rows(report);
  if (report.samples.empty()) {
    report.missing = "the GPU took no PC sample of these calls";
  }
}

StallSampler::~StallSampler() {
  if (enabled_) {
    cupti::OfContext asked{.context = gpu_.context};
    sampling_.disable(&asked);  // after a kernel's fault it fails, and the fault is what is reported
  }
}

}  // namespace

SampleReport sample_stalls(const ProfiledGpu& gpu, const SampledCall& call, int repetitions, int period_log2,
                           cuda::Result& error) {
  SampleReport report;
  error = cuda::kSuccess;
  if (const auto started = cupti::start_profiler<cupti::Sampling>(gpu.device, cupti::kApiPcSampling, report.missing)) {
    const ProfilerLock lock(gpu.uuid, kProfilerPatience);
    StallSampler(*started->library, *started->functions, gpu, call).run(repetitions, period_log2, error, report);
  }
  if (!report.missing.empty()) {
    report.samples.clear();
  }
  return report;
}

}  // namespace apo
