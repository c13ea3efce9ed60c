// harness/evaluate/rounds/clocks.cpp - compares a GPU's two clocks sample by sample; reads steal time from /proc/stat.
#include "harness/evaluate/rounds/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "harness/core/text.h"
#include "harness/worker/protocol/clock.h"

namespace apo {
namespace {

constexpr double kQuietStealPercent = 5;
constexpr double kLookSeconds = 0.25;

// Tolerances of the two clocks of a GPU. An event pair reads 4 to 5 us more than CUPTI's begin and end of the kernel
// between it: 1.25 us for itself, the rest for the launch (measured on an H200).
constexpr double kEventsLessNs = 1'000;
constexpr double kEventsMoreNs = 10'000;
constexpr double kEventsMorePerKernelNs = 200;
constexpr double kEventsMoreShare = 0.05;
constexpr double kOscillators = 0.001;  // they differ by some ten parts in a million

// The median of several readings: an interruption between the two clocks spoils one.
double measure_ns_per_tick() {
  std::array<double, 9> ratios{};
  for (double& ratio : ratios) {
    const std::int64_t begin_ns = raw_ns();
    const std::uint64_t begin_ticks = read_ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::int64_t end_ns = raw_ns();
    ratio = static_cast<double>(end_ns - begin_ns) / static_cast<double>(read_ticks() - begin_ticks);
  }
  std::ranges::nth_element(ratios, ratios.begin() + ratios.size() / 2);
  return ratios[ratios.size() / 2];
}

}  // namespace

double measured_ns_per_tick() {
  static const double kRatio = measure_ns_per_tick();
  return kRatio;
}

std::optional<GpuClockDisagreement> gpu_clock_disagreement(const std::vector<RawSample>& samples,
                                                           const std::array<std::int64_t, 2>& kernels) {
  for (const RawSample& sample : samples) {
    const auto events = static_cast<double>(sample.device_ns);
    const auto recorded = static_cast<double>(sample.activity_ns);
    const auto host = static_cast<double>(sample.end_ns - sample.begin_ns);
    const std::int64_t expected = kernels.at(static_cast<std::size_t>(sample.slot));
    if (expected > 0 && sample.activity_kernels != expected) {
      return GpuClockDisagreement{
          fmt::format("CUPTI Activity recorded {} kernels where {} were launched", sample.activity_kernels, expected),
          sample.slot};
    }
    const double more = std::max(kEventsMoreNs + kEventsMorePerKernelNs * static_cast<double>(sample.activity_kernels),
                                 kEventsMoreShare * recorded);
    // Host code of a library variant is in its time, before, between and behind its kernels.
    const bool stretched = expected > 0 && !(events <= recorded + more);
    if (stretched || !(events >= recorded * (1 - kOscillators) - kEventsLessNs)) {
      return GpuClockDisagreement{"the events say " + format_ns(events) + " for a sample, CUPTI Activity " +
                                      format_ns(recorded) + " from the begin of its first kernel to the end of its " +
                                      "last one, over all streams",
                                  sample.slot};
    }
    if (!(host >= events * (1 - kOscillators))) {
      return GpuClockDisagreement{
          "the host waited " + format_ns(host) + " for a sample that took " + format_ns(events) + " by the events",
          sample.slot};
    }
  }
  return std::nullopt;
}

bool wait_for_quiet(double patience_s, const std::function<CpuTicks()>& read,
                    const std::function<void(double seconds)>& sleep) {
  for (double waited = 0;; waited += kLookSeconds) {
    const CpuTicks before = read();
    sleep(kLookSeconds);
    if (steal_percent(before, read()) <= kQuietStealPercent) {
      return true;
    }
    if (waited >= patience_s) {
      return false;
    }
  }
}

bool wait_for_quiet(double patience_s) {
  return wait_for_quiet(patience_s, read_cpu_ticks,
                        [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
}

}  // namespace apo
