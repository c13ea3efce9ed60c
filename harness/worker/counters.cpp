// harness/worker/counters.cpp - CUPTI's range profiler with automatic ranges, one session a call.
#include "harness/worker/counters.h"

#include <cmath>
#include <thread>
#include <utility>

#include "harness/worker/counter_host.h"
#include "harness/worker/metric_names.h"
#include "harness/worker/profiler_lock.h"

namespace apo {
namespace {

constexpr std::chrono::milliseconds kBusyPause{250};

// One session of the range profiler. What it reads and writes has to stay until it is over.
class RangeSession {
 public:
  RangeSession(const cupti::Profiler& profiler, const CounterConfig& config) : profiler_(profiler), config_(config) {}
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;
  ~RangeSession() { end(); }

  // Up to `launches` launches a pass. `repeatable`: the passes are ours to repeat, if CUPTI lets us.
  cupti::Result begin(cupti::Context context, const std::vector<std::string>& metrics, std::size_t launches,
                      bool repeatable);
  cupti::Result start();
  cupti::Result stop();
  cupti::Result finish();  // after the last pass
  void end();

  // After stop(): no further pass is needed.
  bool complete() const { return complete_; }
  // After finish().
  std::size_t ranges() const { return ranges_; }
  std::size_t dropped() const { return dropped_; }
  const std::vector<std::uint8_t>& data() const { return data_; }
  const std::string& step() const { return step_; }

 private:
  cupti::Result at(const char* step, cupti::Result result) {
    step_ = step;
    return result;
  }

  const cupti::Profiler& profiler_;
  const CounterConfig& config_;
  std::vector<std::uint8_t> data_;
  void* session_ = nullptr;
  std::size_t ranges_ = 0;
  std::size_t dropped_ = 0;
  bool by_user_ = false;
  bool complete_ = false;
  std::string step_;
};

cupti::Result RangeSession::begin(cupti::Context context, const std::vector<std::string>& metrics, std::size_t launches,
                                  bool repeatable) {
  cupti::Enable enabled{.context = context};
  if (const auto result = at("opening a session", profiler_.enable(&enabled)); result != cupti::kSuccess) {
    return result;
  }
  session_ = enabled.session;
  std::vector<const char*> names = c_names(metrics);
  cupti::GetCounterDataSize sized{.session = session_,
                                  .names = names.data(),
                                  .count = names.size(),
                                  .most_ranges = launches,
                                  .most_nodes = static_cast<std::uint32_t>(launches)};
  if (const auto result = at("sizing the counters", profiler_.counter_data_size(&sized)); result != cupti::kSuccess) {
    return result;
  }
  data_.assign(sized.bytes, 0);
  cupti::InitializeCounterData initial{.session = session_, .bytes = data_.size(), .data = data_.data()};
  if (const auto result = at("making room for the counters", profiler_.initialize_counter_data(&initial));
      result != cupti::kSuccess) {
    return result;
  }
  cupti::SetConfig set{.session = session_,
                       .config_bytes = config_.image.size(),
                       .config = config_.image.data(),
                       .data_bytes = data_.size(),
                       .data = data_.data(),
                       .replay = repeatable ? cupti::kUserReplay : cupti::kKernelReplay,
                       .most_ranges_in_pass = launches};
  auto result = at("configuring the counters", profiler_.set_config(&set));
  if (result != cupti::kSuccess && repeatable) {
    set.replay = cupti::kKernelReplay;
    result = at("configuring the counters", profiler_.set_config(&set));
  }
  by_user_ = set.replay == cupti::kUserReplay;
  return result;
}

cupti::Result RangeSession::start() {
  cupti::OfSession start{.session = session_};
  return at("starting the counters", profiler_.start(&start));
}

cupti::Result RangeSession::stop() {
  cupti::Stop stop{.session = session_};
  const auto result = at("stopping the counters", profiler_.stop(&stop));
  complete_ = !by_user_ || stop.all_passes_submitted != 0;
  return result;
}

cupti::Result RangeSession::finish() {
  cupti::DecodeData decoded{.session = session_};
  if (const auto result = at("decoding the counters", profiler_.decode(&decoded)); result != cupti::kSuccess) {
    return result;
  }
  dropped_ = decoded.dropped;
  cupti::GetCounterDataInfo info{.data = data_.data(), .bytes = data_.size()};
  const auto result = at("reading the counters", profiler_.counter_data_info(&info));
  ranges_ = info.ranges;
  return result;
}

// Errors are passed over: after a kernel's fault nothing of CUPTI works, and the fault is what is reported.
void RangeSession::end() {
  if (session_ != nullptr) {
    cupti::OfSession disable{.session = session_};
    profiler_.disable(&disable);
    session_ = nullptr;
  }
}

// Empty when CUPTI does not tell: then the chip's full set is assumed.
std::vector<std::uint8_t> availability_of(const cupti::Profiler& profiler, cupti::Context context) {
  cupti::GetCounterAvailability asked{.context = context};
  if (profiler.counter_availability(&asked) != cupti::kSuccess) {
    return {};
  }
  std::vector<std::uint8_t> image(asked.bytes);
  asked.image = image.data();
  return profiler.counter_availability(&asked) == cupti::kSuccess ? image : std::vector<std::uint8_t>();
}

// One collection: everything between the profiler's initialisation and its end.
class Collection {
 public:
  Collection(const cupti::Library& library, const cupti::Profiler& profiler, const ProfiledGpu& gpu,
             const ProfiledCall& call)
      : library_(library), profiler_(profiler), gpu_(gpu), call_(call) {}

  void run(const std::vector<std::string>& wanted, int repetitions, cuda::Result& error, CounterReport& report);

 private:
  bool prepare_metrics(const std::vector<std::string>& wanted, CounterReport& report);
  bool count_one_call(CounterReport& report, cuda::Result& error);
  bool open(RangeSession& session, const CounterReport& report, std::string& missing) const;
  bool add_values(const RangeSession& session, CounterReport& report) const;

  const cupti::Library& library_;
  const cupti::Profiler& profiler_;
  const ProfiledGpu& gpu_;
  const ProfiledCall& call_;
  std::vector<std::uint8_t> availability_;
  CounterConfig config_;
  std::unique_ptr<CounterHost> host_;
};

bool Collection::prepare_metrics(const std::vector<std::string>& wanted, CounterReport& report) {
  report.chip = cupti::chip_of(library_, profiler_, gpu_.index, report.missing);
  if (!report.missing.empty()) {
    return false;
  }
  availability_ = availability_of(profiler_, gpu_.context);
  host_ = std::make_unique<CounterHost>(library_, profiler_, report.chip, availability_);
  if (!host_->missing().empty()) {
    report.missing = host_->missing();
    return false;
  }
  report.metrics = accepted_metrics(library_, profiler_, report.chip, availability_, wanted, report.refused);
  if (report.metrics.empty()) {
    report.missing = "none of the metrics exists on this GPU";
    return false;
  }
  if (const auto result = host_->configure(report.metrics, config_); result != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(library_, result, "scheduling the counters");
    return false;
  }
  report.passes = static_cast<int>(config_.passes);
  return true;
}

// With its first pass started. Waits as long as another process uses the counters of this GPU.
bool Collection::open(RangeSession& session, const CounterReport& report, std::string& missing) const {
  const auto until = std::chrono::steady_clock::now() + kProfilerPatience;
  const auto begin = [&] {
    const auto result = session.begin(gpu_.context, report.metrics, call_.kernels.size() + 1, call_.repeatable);
    return result == cupti::kSuccess ? session.start() : result;
  };
  cupti::Result result = begin();
  while (result == cupti::kHardwareBusy && std::chrono::steady_clock::now() < until) {
    session.end();
    std::this_thread::sleep_for(kBusyPause);
    result = begin();
  }
  if (result != cupti::kSuccess) {
    missing = cupti::explain_trouble(library_, result, session.step());
  }
  return result == cupti::kSuccess;
}

bool Collection::add_values(const RangeSession& session, CounterReport& report) const {
  if (session.ranges() != call_.kernels.size() || session.dropped() > 0) {
    report.missing = "CUPTI counted " + std::to_string(session.ranges()) + " launches of " +
                     std::to_string(call_.kernels.size()) + " and dropped " + std::to_string(session.dropped());
    return false;
  }
  for (std::size_t range = 0; range < session.ranges(); ++range) {
    LaunchCounters launch{.kernel = call_.kernels[range], .values = {}};
    if (const auto result = host_->evaluate(session.data(), range, report.metrics, launch.values);
        result != cupti::kSuccess) {
      report.missing = cupti::explain_trouble(library_, result, "computing the metrics");
      return false;
    }
    report.launches.push_back(std::move(launch));
  }
  return true;
}

bool Collection::count_one_call(CounterReport& report, cuda::Result& error) {
  RangeSession session(profiler_, config_);
  const auto trouble = [&](cupti::Result result) {
    report.missing = cupti::explain_trouble(library_, result, session.step());
    return false;
  };
  for (std::size_t pass = 0; pass == 0 || !session.complete(); ++pass) {
    if (pass > config_.passes) {
      report.missing = "CUPTI asks for more passes than the " + std::to_string(config_.passes) + " that it needs";
      return false;
    }
    // Before the pass starts, so that no fill is among its ranges.
    error = call_.prepare();
    if (error != cuda::kSuccess || (pass == 0 && !open(session, report, report.missing))) {
      return false;
    }
    if (const auto started = pass == 0 ? cupti::kSuccess : session.start(); started != cupti::kSuccess) {
      return trouble(started);
    }
    error = call_.launch();
    const auto stopped = session.stop();
    if (error != cuda::kSuccess) {
      return false;
    }
    if (stopped != cupti::kSuccess) {
      return trouble(stopped);
    }
  }
  if (const auto finished = session.finish(); finished != cupti::kSuccess) {
    return trouble(finished);
  }
  return add_values(session, report);
}

void Collection::run(const std::vector<std::string>& wanted, int repetitions, cuda::Result& error,
                     CounterReport& report) {
  report.missing = cupti::unsupported_reason(library_, profiler_, gpu_.device, cupti::kApiRange);
  if (!report.missing.empty() || !prepare_metrics(wanted, report)) {
    return;
  }
  const ProfilerLock lock(gpu_.uuid, kProfilerPatience);
  for (int i = 0; i < repetitions; ++i) {
    if (!count_one_call(report, error)) {
      return;
    }
  }
}

// Counters of different passes see slightly different runs, so that hits can outnumber lookups.
void clamp_percentages(CounterReport& report) {
  for (std::size_t metric = 0; metric < report.metrics.size(); ++metric) {
    bool clamped = false;
    for (LaunchCounters& launch : report.launches) {
      if (is_percentage(report.metrics[metric]) && launch.values[metric] > 100) {
        launch.values[metric] = 100;
        clamped = true;
      }
    }
    if (clamped) {
      report.clamped.push_back(report.metrics[metric]);
    }
  }
}

}  // namespace

CounterReport collect_counters(const ProfiledGpu& gpu, const ProfiledCall& call,
                               const std::vector<std::string>& metrics, int repetitions, cuda::Result& error) {
  CounterReport report;
  error = cuda::kSuccess;
  const auto library = cupti::load_library(report.missing);
  const auto profiler = library == nullptr ? nullptr : cupti::load_profiler(*library, report.missing);
  if (profiler == nullptr) {
    return report;
  }
  cupti::Initialize initialize;
  if (const auto result = profiler->initialize(&initialize); result != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(*library, result, "starting the profiler");
    return report;
  }
  Collection(*library, *profiler, gpu, call).run(metrics, repetitions, error, report);
  cupti::Initialize deinitialize;
  profiler->deinitialize(&deinitialize);  // after a kernel's fault it fails, and the fault is what is reported
  if (!report.missing.empty()) {
    report.launches.clear();
  }
  clamp_percentages(report);
  return report;
}

}  // namespace apo
