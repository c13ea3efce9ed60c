// harness/evaluate/rounds/clocks.cpp - the time stamp counter against the clock; steal time from /proc/stat.
#include "harness/evaluate/rounds/clocks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <thread>

#include "harness/worker/protocol/clock.h"

namespace apo {
namespace {

constexpr double kQuietStealPercent = 5;
constexpr double kLookSeconds = 0.25;

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
