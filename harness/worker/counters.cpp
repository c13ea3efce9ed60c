// harness/worker/counters.cpp - CUPTI's range profiler with automatic ranges, one session for one call or for several.
//
// What a collection costs is nearly all the same for every kernel: starting the profiler, asking which counters there
// are, and a session's first pass, which takes some 200 ms. So a session is used for further calls where the caller
// says that there are some. Should CUPTI not take a further call, or answer otherwise than for the first, the call is
// counted anew in a session of its own.
#include "harness/worker/counters.h"

#include <cmath>
#include <thread>
#include <utility>

#include "harness/worker/metric_names.h"

namespace apo {
namespace {

constexpr std::chrono::milliseconds kBusyPause{250};

// Does `work`, and notes in the report how long that took.
template <class Work>
auto timed(CounterReport& report, std::string what, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = work();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  report.steps.push_back({.what = std::move(what), .seconds = elapsed.count()});
  return result;
}

std::string of_pass(std::size_t pass, const char* what) {
  return "pass " + std::to_string(pass + 1) + " " + what;
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

}  // namespace

bool CounterCollector::start(const ProfiledGpu& gpu, CounterReport& report) {
  if (library_ == nullptr) {
    library_ = timed(report, "library", [&] { return cupti::load_library(report.missing); });
  }
  if (library_ != nullptr && profiler_ == nullptr) {
    profiler_ = timed(report, "profiler's library", [&] { return cupti::load_profiler(*library_, report.missing); });
  }
  if (profiler_ == nullptr) {
    return false;
  }
  if (!initialized_) {
    cupti::Initialize initialize;
    const auto result = timed(report, "profiler start", [&] { return profiler_->initialize(&initialize); });
    if (result != cupti::kSuccess) {
      report.missing = cupti::explain_trouble(*library_, result, "starting the profiler");
      return false;
    }
    initialized_ = true;
    report.missing = timed(report, "support", [&] {
      return cupti::unsupported_reason(*library_, *profiler_, gpu.device, cupti::kApiRange);
    });
  }
  if (report.missing.empty() && chip_.empty()) {
    chip_ = cupti::chip_of(*library_, *profiler_, gpu.index, report.missing);
  }
  report.chip = chip_;
  return report.missing.empty();
}

// Tells which of the chip's counters this GPU has; not while there is a session.
void CounterCollector::ask_availability(const ProfiledGpu& gpu, CounterReport& report) {
  if (availability_.empty() && !session_) {
    availability_ = timed(report, "availability", [&] { return availability_of(*profiler_, gpu.context); });
    schedule_ = {};
  }
}

bool CounterCollector::schedule(const std::vector<std::string>& wanted, CounterReport& report) {
  if (schedule_.host == nullptr || wanted != wanted_) {
    end_session();  // it reads the configuration
    wanted_ = wanted;
    schedule_ = timed(report, "schedule",
                      [&] { return schedule_counters(*library_, *profiler_, chip_, availability_, wanted); });
  }
  report.refused = schedule_.refused;
  report.missing = schedule_.missing;
  report.metrics = schedule_.metrics;
  report.passes = static_cast<int>(schedule_.config.passes);
  return report.missing.empty();
}

void CounterCollector::end_session() {
  session_.reset();
  lock_.reset();
  renewable_ = false;
  passes_of_new_session_ = 0;
}

// What the host alone has learnt about the GPU stays true.
void CounterCollector::release() {
  end_session();
  schedule_ = {};
  wanted_.clear();
  if (initialized_) {
    cupti::Initialize deinitialize;
    profiler_->deinitialize(&deinitialize);  // after a kernel's fault it fails, and the fault is what is reported
    initialized_ = false;
  }
}

// With its first pass started. Waits as long as another process uses the counters of this GPU.
bool CounterCollector::open_session(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report) {
  const auto until = std::chrono::steady_clock::now() + kProfilerPatience;
  const auto begin = [&] {
    session_.emplace(*profiler_, schedule_.config);
    auto result = timed(report, "session", [&] { return session_->open(gpu.context); });
    if (result == cupti::kSuccess) {
      result = timed(report, "configuration",
                     [&] { return session_->set_up(report.metrics, call.kernels.size() + 1, call.repeatable); });
    }
    return result == cupti::kSuccess ? timed(report, of_pass(0, "start"), [&] { return session_->start(); }) : result;
  };
  cupti::Result result = begin();
  while (result == cupti::kHardwareBusy && std::chrono::steady_clock::now() < until) {
    session_->end();
    std::this_thread::sleep_for(kBusyPause);
    result = begin();
  }
  if (result != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(*library_, result, session_->step());
  }
  return result == cupti::kSuccess;
}

// A new call in a session that has counted another one begins with fresh counters.
bool CounterCollector::begin_pass(std::size_t pass, const ProfiledGpu& gpu, const ProfiledCall& call,
                                  CounterReport& report) {
  if (pass == 0 && !session_) {
    return open_session(gpu, call, report);
  }
  auto result = cupti::kSuccess;
  if (pass == 0) {
    result = timed(report, "renewal",
                   [&] { return session_->set_up(report.metrics, call.kernels.size() + 1, call.repeatable); });
  }
  if (result == cupti::kSuccess) {
    result = timed(report, of_pass(pass, "start"), [&] { return session_->start(); });
  }
  if (result != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(*library_, result, session_->step());
  }
  return result == cupti::kSuccess;
}

bool CounterCollector::run_passes(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report,
                                  cuda::Result& error) {
  for (std::size_t pass = 0; pass == 0 || !session_->complete(); ++pass) {
    if (pass > schedule_.config.passes) {
      report.missing =
          "CUPTI asks for more passes than the " + std::to_string(schedule_.config.passes) + " that it needs";
      return false;
    }
    // Before the pass starts, so that no fill is among its ranges.
    error = timed(report, of_pass(pass, "preparation"), call.prepare);
    if (error != cuda::kSuccess || !begin_pass(pass, gpu, call, report)) {
      return false;
    }
    error = timed(report, of_pass(pass, "launches"), call.launch);
    const auto stopped = timed(report, of_pass(pass, "stop"), [&] { return session_->stop(); });
    if (error != cuda::kSuccess) {
      return false;
    }
    if (stopped != cupti::kSuccess) {
      report.missing = cupti::explain_trouble(*library_, stopped, session_->step());
      return false;
    }
  }
  return true;
}

bool CounterCollector::add_values(const ProfiledCall& call, CounterReport& report) {
  const auto finished = timed(report, "decoding", [&] { return session_->finish(); });
  if (finished != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(*library_, finished, session_->step());
    return false;
  }
  if (session_->ranges() != call.kernels.size() || session_->dropped() > 0) {
    report.missing = "CUPTI counted " + std::to_string(session_->ranges()) + " launches of " +
                     std::to_string(call.kernels.size()) + " and dropped " + std::to_string(session_->dropped());
    return false;
  }
  const auto evaluated = timed(report, "evaluation", [&] {
    auto result = cupti::kSuccess;
    for (std::size_t range = 0; range < call.kernels.size() && result == cupti::kSuccess; ++range) {
      report.launches.push_back({.kernel = call.kernels[range], .values = {}});
      result = schedule_.host->evaluate(session_->data(), range, report.metrics, report.launches.back().values);
    }
    return result;
  });
  if (evaluated != cupti::kSuccess) {
    report.missing = cupti::explain_trouble(*library_, evaluated, "computing the metrics");
  }
  return evaluated == cupti::kSuccess;
}

// In the session that there is, else in a new one. `error` is that of the kernels.
bool CounterCollector::count_one_call(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report,
                                      cuda::Result& error) {
  if (!call.repeatable || !renewable_) {
    session_.reset();  // what CUPTI repeats by itself shows no passes to tell a used session's from a new one's
  }
  const bool renewed = session_.has_value();
  const std::size_t launches_before = report.launches.size();
  if (!lock_) {
    timed(report, "lock", [&] { return lock_.emplace(gpu.uuid, kProfilerPatience).held(); });
  }
  bool counted = run_passes(gpu, call, report, error) && add_values(call, report);
  if (counted && renewed && session_->repeated_passes() != passes_of_new_session_) {
    report.missing = "it ended after " + std::to_string(session_->repeated_passes()) + " passes instead of " +
                     std::to_string(passes_of_new_session_);
    counted = false;
  }
  if (!counted && renewed && error == cuda::kSuccess) {
    report.steps.push_back({.what = "a new session, since the open one took no other call: " + report.missing});
    report.missing.clear();
    report.launches.resize(launches_before);
    session_.reset();
    renewable_ = false;
    return count_one_call(gpu, call, report, error);
  }
  passes_of_new_session_ = session_ && !renewed ? session_->repeated_passes() : passes_of_new_session_;
  renewable_ = counted && passes_of_new_session_ > 0;
  return counted;
}

CounterReport CounterCollector::collect(const ProfiledGpu& gpu, const ProfiledCall& call,
                                        const std::vector<std::string>& metrics, int repetitions, bool more,
                                        cuda::Result& error) {
  CounterReport report;
  error = cuda::kSuccess;
  if (start(gpu, report)) {
    ask_availability(gpu, report);
    bool counted = schedule(metrics, report);
    for (int i = 0; i < repetitions && counted; ++i) {
      counted = count_one_call(gpu, call, report, error);
    }
  }
  if (error != cuda::kSuccess || !report.missing.empty()) {
    release();
    report.launches.clear();
  } else if (!more) {
    end_session();
  }
  clamp_percentages(report);
  return report;
}

}  // namespace apo
