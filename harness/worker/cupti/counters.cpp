// harness/worker/cupti/counters.cpp - CUPTI's range profiler with automatic ranges, one session a call.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "harness/core/stopwatch.h"
#include "harness/worker/cupti/counter_host.h"
#include "harness/worker/cupti/metric_names.h"
#include "harness/worker/cupti/profilers.h"

namespace apo {
namespace {

constexpr std::chrono::milliseconds kBusyPause{250};

// Owns the memory that CUPTI reads and writes until the session is over. The configuration outlives it.
class RangeSession {
 public:
  RangeSession(const cupti::Profiler& profiler, const CounterConfig& config) : profiler_(profiler), config_(config) {}
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;
  ~RangeSession() { end(); }

  cupti::Result open(cupti::Context context);
  // Opens a session for one call of up to `launches` launches per pass. `repeatable`: the caller repeats the passes, if
  // CUPTI allows it.
  cupti::Result set_up(const std::vector<std::string>& metrics, std::size_t launches, bool repeatable);
  cupti::Result start();
  cupti::Result stop();
  cupti::Result finish();  // after the last pass
  void end();

  // Valid after stop(): no further pass is needed.
  bool complete() const { return complete_; }
  // Valid after finish().
  std::size_t ranges() const { return ranges_; }
  std::size_t dropped() const { return dropped_; }
  const std::vector<std::uint8_t>& data() const { return data_; }
  const std::string& step() const { return step_; }

 private:
  cupti::Result at(const char* step, cupti::Result result) {
    step_ = step;
    return result;
  }
  cupti::Result make_room(const std::vector<std::string>& metrics, std::size_t launches);

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

cupti::Result RangeSession::open(cupti::Context context) {
  cupti::Enable enabled{.context = context};
  const auto result = at("opening a session", profiler_.enable(&enabled));
  session_ = result == cupti::kSuccess ? enabled.session : nullptr;
  return result;
}

cupti::Result RangeSession::make_room(const std::vector<std::string>& metrics, std::size_t launches) {
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
  return at("making room for the counters", profiler_.initialize_counter_data(&initial));
}

cupti::Result RangeSession::set_up(const std::vector<std::string>& metrics, std::size_t launches, bool repeatable) {
  if (const auto result = make_room(metrics, launches); result != cupti::kSuccess) {
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
  complete_ = false;
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

// Does `work`, and notes in the report how long that took.
template <class Work>
auto timed(CounterReport& report, std::string what, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = work();
  report.steps.push_back({.what = std::move(what), .seconds = seconds_since(begin)});
  return result;
}

std::string of_pass(std::size_t pass, const char* what) {
  return fmt::format("pass {} {}", pass + 1, what);
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

// The parts of one collection, from CUPTI's libraries to the session, in the order of their use.
class Collection {
 public:
  Collection(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report)
      : gpu_(gpu), call_(call), report_(report) {}
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;
  ~Collection();

  // Each tells whether the next one makes sense; if not, the report or `error` says why.
  bool start();
  bool schedule(const std::vector<std::string>& wanted);
  bool run_passes(cuda::Result& error);
  bool add_values();

 private:
  bool begin_pass(std::size_t pass);
  bool open_session();
  bool worked(cupti::Result result, const std::string& step);

  const ProfiledGpu& gpu_;
  const ProfiledCall& call_;
  CounterReport& report_;
  std::unique_ptr<const cupti::Library> library_;
  std::unique_ptr<const cupti::Profiler> profiler_;
  bool initialized_ = false;
  CounterSchedule schedule_;
  std::optional<ProfilerLock> lock_;
  std::optional<RangeSession> session_;
};

Collection::~Collection() {
  session_.reset();
  schedule_ = {};
  if (initialized_) {
    cupti::Initialize deinitialize;
    profiler_->deinitialize(&deinitialize);  // after a kernel's fault it fails, and the fault is what is reported
  }
}

bool Collection::worked(cupti::Result result, const std::string& step) {
  if (result != cupti::kSuccess) {
    report_.missing = cupti::explain_trouble(*library_, result, step);
  }
  return result == cupti::kSuccess;
}

bool Collection::start() {
  library_ = timed(report_, "library", [&] { return cupti::load_library(report_.missing); });
  if (library_ == nullptr) {
    return false;
  }
  profiler_ = timed(report_, "profiler's library", [&] { return cupti::load_profiler(*library_, report_.missing); });
  if (profiler_ == nullptr) {
    return false;
  }
  cupti::Initialize initialize;
  initialized_ = worked(timed(report_, "profiler start", [&] { return profiler_->initialize(&initialize); }),
                        "starting the profiler");
  if (!initialized_) {
    return false;
  }
  report_.missing = timed(report_, "support", [&] {
    return cupti::unsupported_reason(*library_, *profiler_, gpu_.device, cupti::kApiRange);
  });
  if (report_.missing.empty()) {
    report_.chip = cupti::chip_of(*library_, *profiler_, gpu_.index, report_.missing);
  }
  return report_.missing.empty();
}

bool Collection::schedule(const std::vector<std::string>& wanted) {
  const auto availability = timed(report_, "availability", [&] { return availability_of(*profiler_, gpu_.context); });
  schedule_ = timed(report_, "schedule",
                    [&] { return schedule_counters(*library_, *profiler_, report_.chip, availability, wanted); });
  report_.refused = schedule_.refused;
  report_.missing = schedule_.missing;
  report_.metrics = schedule_.metrics;
  report_.passes = static_cast<int>(schedule_.config.passes);
  return report_.missing.empty();
}

// With its first pass started. Waits as long as another process uses the counters of this GPU.
bool Collection::open_session() {
  const auto until = std::chrono::steady_clock::now() + kProfilerPatience;
  const auto begin = [&] {
    session_.emplace(*profiler_, schedule_.config);
    auto result = timed(report_, "session", [&] { return session_->open(gpu_.context); });
    if (result == cupti::kSuccess) {
      result = timed(report_, "configuration",
                     [&] { return session_->set_up(report_.metrics, call_.are_kernels.size() + 1, call_.repeatable); });
    }
    return result == cupti::kSuccess ? timed(report_, of_pass(0, "start"), [&] { return session_->start(); }) : result;
  };
  timed(report_, "lock", [&] { return lock_.emplace(gpu_.uuid, kProfilerPatience).held(); });
  cupti::Result result = begin();
  while (result == cupti::kHardwareBusy && std::chrono::steady_clock::now() < until) {
    session_->end();
    std::this_thread::sleep_for(kBusyPause);
    result = begin();
  }
  return worked(result, session_->step());
}

bool Collection::begin_pass(std::size_t pass) {
  return pass == 0
             ? open_session()
             : worked(timed(report_, of_pass(pass, "start"), [&] { return session_->start(); }), session_->step());
}

bool Collection::run_passes(cuda::Result& error) {
  for (std::size_t pass = 0; pass == 0 || !session_->complete(); ++pass) {
    if (pass > schedule_.config.passes) {
      report_.missing = fmt::format("CUPTI asks for more passes than the {} that it needs", schedule_.config.passes);
      return false;
    }
    // Before the pass starts, so that no fill is among its ranges.
    error = timed(report_, of_pass(pass, "preparation"), call_.prepare);
    if (error != cuda::kSuccess || !begin_pass(pass)) {
      return false;
    }
    error = timed(report_, of_pass(pass, "launches"), call_.launch);
    const auto stopped = timed(report_, of_pass(pass, "stop"), [&] { return session_->stop(); });
    if (error != cuda::kSuccess || !worked(stopped, session_->step())) {
      return false;
    }
  }
  return true;
}

bool Collection::add_values() {
  if (!worked(timed(report_, "decoding", [&] { return session_->finish(); }), session_->step())) {
    return false;
  }
  const std::vector<std::size_t> ranges = kernel_ranges(call_.are_kernels, session_->ranges());
  if (ranges.size() != call_.kernels.size() || session_->dropped() > 0) {
    report_.missing = fmt::format("CUPTI counted {} launches of {} and dropped {}", session_->ranges(),
                                  call_.kernels.size(), session_->dropped());
    return false;
  }
  const auto evaluated = timed(report_, "evaluation", [&] {
    auto result = cupti::kSuccess;
    for (std::size_t kernel = 0; kernel < ranges.size() && result == cupti::kSuccess; ++kernel) {
      report_.launches.push_back({.kernel = call_.kernels[kernel].name, .values = {}});
      result =
          schedule_.host->evaluate(session_->data(), ranges[kernel], report_.metrics, report_.launches.back().values);
    }
    return result;
  });
  return worked(evaluated, "computing the metrics");
}

}  // namespace

std::vector<std::size_t> kernel_ranges(const std::vector<bool>& are_kernels, std::size_t ranges) {
  const auto kernels = static_cast<std::size_t>(std::ranges::count(are_kernels, true));
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < are_kernels.size(); ++i) {
    if (are_kernels[i] && (ranges == kernels || ranges == are_kernels.size())) {
      numbers.push_back(ranges == kernels ? numbers.size() : i);
    }
  }
  return numbers;
}

CounterReport collect_counters(const ProfiledGpu& gpu, const ProfiledCall& call,
                               const std::vector<std::string>& metrics, cuda::Result& error) {
  CounterReport report;
  error = cuda::kSuccess;
  bool counted = false;
  {
    Collection collection(gpu, call, report);
    counted =
        collection.start() && collection.schedule(metrics) && collection.run_passes(error) && collection.add_values();
  }
  if (!counted) {
    report.launches.clear();
  }
  clamp_percentages(report);
  return report;
}

}  // namespace apo
