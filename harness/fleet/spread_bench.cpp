// harness/fleet/spread_bench.cpp - hands out shares, takes measurements, and hands out again what was lost.
#include "harness/fleet/spread_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/core/text.h"
#include "harness/loop/scan/own_bench.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr auto kNextLook = std::chrono::milliseconds(500);
constexpr int kMostLostShares = 3;  // what was lost so often is not measured

}  // namespace

bool SpreadBench::fits(std::size_t worker) const {
  const Hello* hello = fleet_.hello(worker);
  if (hello == nullptr || unable_.contains(worker)) {
    return false;
  }
  Machine machine = hello->machine;
  machine.id = frame_.workspace.machine().id;
  return machine == frame_.workspace.machine();
}

bool SpreadBench::can_measure() const {
  bool any = false;
  for (std::size_t i = 0; i < fleet_.size(); ++i) {
    any = any || fits(i) || (fleet_.hello(i) == nullptr && !fleet_.is_out(i));
  }
  return any;
}

std::vector<std::size_t> SpreadBench::idle() const {
  std::vector<std::size_t> workers;
  for (std::size_t i = 0; i < fleet_.size(); ++i) {
    if (fleet_.is_idle(i) && fits(i)) {
      workers.push_back(i);
    }
  }
  return workers;
}

std::size_t SpreadBench::wants() const {
  const Machine& machine = frame_.workspace.machine();
  const std::size_t of_worker =
      machine.target == Target::cuda
          ? kScanBatch
          : std::min(kScanBatch, kScanBatchOfThread * static_cast<std::size_t>(machine.cores));
  return waiting_.empty() ? of_worker * idle().size() : 0;
}

void SpreadBench::add(const std::vector<Configuration>& configurations, int level) {
  level_ = level;
  waiting_.insert(waiting_.end(), configurations.begin(), configurations.end());
}

TaskSide SpreadBench::side(const Configuration& configuration) const {
  return {configuration, frame_.workspace.catalogue().get(configuration.variant).source_hash};
}

void SpreadBench::give(std::size_t worker, std::size_t most) {
  static std::int64_t newest = 0;  // a worker may still say something of an earlier scan
  ScanTask task{.id = --newest,
                .campaign = frame_.campaign,
                .policy = frame_.policy,
                .reference = {reference_.configuration, reference_.source_hash},
                .reference_key = reference_.build_key,
                .candidates = {},
                .level = level_};
  task.policy.seed = derive_seed(frame_.policy.seed, "worker", static_cast<std::uint64_t>(fleet_.row(worker)));
  Share share{.task = task.id, .left = {}};
  for (; !waiting_.empty() && share.left.size() < most; waiting_.pop_front()) {
    task.candidates.push_back(side(waiting_.front()));
    share.left.push_back(waiting_.front());
  }
  shares_[worker] = std::move(share);
  fleet_.give(worker, task);
}

std::optional<ScanMeasurement> SpreadBench::take(Time latest, const Tell& tell) {
  while (!(waiting_.empty() && shares_.empty()) && can_measure()) {
    const std::vector<std::size_t> workers = idle();
    for (std::size_t i = 0; i < workers.size() && !waiting_.empty(); ++i) {
      const std::size_t takers = workers.size() - i;
      give(workers[i], (waiting_.size() + takers - 1) / takers);
    }
    const Time now = std::chrono::steady_clock::now();
    if (now >= latest) {
      return std::nullopt;
    }
    tell(shares_.empty() ? fmt::format("on {} workers", fleet_.size()) : fleet_.doing());
    const auto patience =
        std::chrono::ceil<std::chrono::milliseconds>(std::min<Time::duration>(kNextLook, latest - now));
    if (const std::optional<FleetEvent> event = fleet_.next(patience)) {
      if (auto measured = on_event(*event)) {
        return measured;
      }
    }
    fleet_.check_any_left();
  }
  return std::nullopt;
}

std::optional<ScanMeasurement> SpreadBench::on_event(const FleetEvent& event) {
  const auto share = shares_.find(event.worker);
  if (share == shares_.end() || share->second.task != event.task) {
    return std::nullopt;  // it joined, or has stopped
  }
  std::vector<Configuration>& left = share->second.left;
  if (event.kind == FleetEvent::Kind::scanned) {
    ScanMeasurement measured = event.measured;
    if (std::erase(left, measured.row.configuration) == 0) {
      FleetEvent refused = fleet_.refuse(event.worker, "it measured what it was not given");
      refused.task = event.task;
      return on_event(refused);
    }
    measured.row.place.machine = fleet_.hello(event.worker)->machine.id;
    measured.row.worker = fleet_.row(event.worker);
    return measured;
  }
  if (event.kind == FleetEvent::Kind::done && !left.empty()) {
    unable_.insert(event.worker);
  }
  const bool may_be_due_to_one = event.kind == FleetEvent::Kind::left && event.why != WorkerEnd::gave_back;
  std::ranges::copy_if(left, std::back_inserter(waiting_), [&](const Configuration& one) {
    return !may_be_due_to_one || ++lost_[one.label()] < kMostLostShares;
  });
  shares_.erase(share);
  return std::nullopt;
}

void SpreadBench::stop() {
  for (const auto& [worker, share] : shares_) {
    fleet_.cancel(worker);
  }
  shares_.clear();
  waiting_.clear();
}

}  // namespace apo
