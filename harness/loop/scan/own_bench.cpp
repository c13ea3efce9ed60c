// harness/loop/scan/own_bench.cpp - takes what is built, and times it beside the reference.
#include "harness/loop/scan/own_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "harness/core/stopwatch.h"

namespace apo {
namespace {

constexpr std::array kEfforts = {ScanEffort{.seconds = 0.03, .most_blocks = 5},  // by level
                                 ScanEffort{.seconds = 0.1, .most_blocks = 8, .processes = 2},
                                 ScanEffort{.seconds = 0.4, .most_blocks = 16, .processes = 4}};
constexpr auto kLook = std::chrono::milliseconds(500);  // who waits may be asked to end

ScanBench::Time now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

void OwnBench::measure_beside(const ScanReference& reference) {
  if (reference.configuration != reference_.configuration || reference.build_key != reference_.build_key) {
    process_.reset();
  }
  reference_ = reference;
}

// The CPUs build while a GPU measures; on a host they do one after the other.
std::size_t OwnBench::wants() const {
  const auto threads = static_cast<std::size_t>(runtime_.threads);
  if (on_gpu()) {
    return added() < threads ? kScanBatch : 0;
  }
  return added() == 0 ? std::min(kScanBatch, kScanBatchOfThread * threads) : 0;
}

Build OwnBench::build(const Configuration& configuration) const {
  return runtime_.build(configuration, workload_.axes, false);
}

void OwnBench::add(const std::vector<Configuration>& configurations, int level) {
  if (!builds_) {
    stop_.emplace();
    workspace_.stop_builds_by(stop_->get_token());
    builds_.emplace([this](const Configuration& one) { return build(one); }, runtime_.threads, *stop_);
  }
  level_ = level;
  std::ranges::for_each(configurations, [&](const Configuration& one) { builds_->add(one); });
}

void OwnBench::stop() {
  if (builds_) {
    builds_.reset();
    workspace_.stop_builds_by({});
  }
  built_.clear();
}

std::optional<Build> OwnBench::built(const Configuration& configuration, Time latest) {
  add({configuration}, 0);
  const std::vector<TimedArm> built = builds_->take(1, latest);
  stop();
  return built.empty() ? std::nullopt : std::optional(built.front().build);
}

DeviceTurns::Turn OwnBench::turn() {
  return runtime_.take_turn([&](const std::string& line) { observer_.say(line); });
}

// On a host all of them, but for a build that takes long.
void OwnBench::take_builds(Time latest, const Tell& tell) {
  const Time patience = latest == Time::max() ? latest : now() + (latest - now()) / 2;
  const auto least = [&] { return on_gpu() || now() >= patience ? std::size_t{1} : added(); };
  while (built_.size() < least() && now() < latest) {
    tell(fmt::format("build {}", builds_->added().size()));
    const Time until = std::min(now() + kLook, now() < patience ? patience : latest);
    std::ranges::move(builds_->take(least() - built_.size(), until), std::back_inserter(built_));
  }
}

// Where all is known none is started.
ScanProcess& OwnBench::process() {
  if (!process_) {
    process_.emplace(runtime_, workload_, place_.cache,
                     TimedArm{reference_.configuration, build(reference_.configuration)}, seed_);
  }
  return *process_;
}

std::optional<ScanMeasurement> OwnBench::take(Time latest, const Tell& tell) {
  if (added() == 0 || now() >= latest) {
    return std::nullopt;
  }
  if (on_gpu() && !process_) {  // while the first is being built
    const DeviceTurns::Turn own = turn();
    process();
  }
  auto start = now();
  if (built_.empty()) {
    take_builds(latest, tell);
  }
  ScanMeasurement one{.row = {}, .build_s = seconds_since(start)};
  if (built_.empty() || now() >= latest) {
    return std::nullopt;
  }
  const TimedArm arm = std::move(built_.front());
  built_.pop_front();
  tell(arm.configuration.label());
  const DeviceTurns::Turn own = turn();
  start = now();
  const Build& build = arm.build;
  one.row = {.place = place_,
             .configuration = arm.configuration,
             .source_hash = workspace_.catalogue().get(arm.configuration.variant).source_hash,
             .incumbent = reference_.configuration,
             .incumbent_source_hash = reference_.source_hash,
             .build_key = build.key,
             .resources = build.resources,
             .level = level_};
  if (build.outcome == Outcome::valid) {
    one.row.times = process().measure(arm, kEfforts.at(static_cast<std::size_t>(level_)));
  } else {
    one.row.times = {.outcome = build.outcome, .evidence = build.evidence};
  }
  one.timing_s = seconds_since(start);
  one.row.seconds = one.timing_s + (build.from_cache ? 0 : build.seconds);
  return one;
}

}  // namespace apo
