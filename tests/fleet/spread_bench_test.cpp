// tests/fleet/spread_bench_test.cpp - a scan on workers that measure, die, answer for others and cannot measure.
#include "harness/fleet/spread_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/fleet/placed_experiments.h"
#include "tests/fleet/campaign_of_workers.h"
#include "tests/text.h"

namespace apo {
namespace {

using Strings = std::vector<std::string>;

const std::string kMeasures = "revert revert revert revert revert revert";

class Spread : public testing::CampaignOfWorkers {
 protected:
  void start(const Strings& acts, int most_failures = 1) {
    fleet_.emplace(scripted(acts, most_failures), *frame_);
    while (joined() < acts.size()) {
      fleet_->next(std::chrono::milliseconds(100));
    }
    bench_.emplace(*frame_, *fleet_);
    const Variant& simple = workspace_.catalogue().get("copy/simple");
    bench_->measure_beside({{simple.id(), {}}, simple.source_hash, "key"});
  }
  std::size_t joined() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < fleet_->size(); ++i) {
      count += fleet_->hello(i) != nullptr ? 1U : 0U;
    }
    return count;
  }

  void add(int count) {
    std::vector<Configuration> configurations;
    for (int i = 0; i < count; ++i) {
      configurations.push_back({"copy/parallel", {{"KILOBYTES_PER_THREAD", ++added_}}});
    }
    bench_->add(configurations, 0);
  }

  // All that there will be, by configuration.
  std::map<std::string, std::int64_t> workers_by_label() {
    std::map<std::string, std::int64_t> found;
    while (const auto one = bench_->take(ScanBench::Time::max(), [](const std::string&) {})) {
      EXPECT_TRUE(found.emplace(one->row.configuration.label(), one->row.worker).second) << "measured twice";
      EXPECT_EQ(one->row.place.machine, workspace_.machine().id);
    }
    return found;
  }

  std::optional<SpreadBench> bench_;
  int added_ = 0;
};

TEST_F(Spread, WhatAWorkerHadLeftAnotherOneGets) {
  const std::map<std::string, WorkerEnd> ends = {{"revert die", WorkerEnd::died},
                                                 {"revert answer_other", WorkerEnd::bad_answer},
                                                 {"revert give_back", WorkerEnd::gave_back},
                                                 {"revert cannot_judge", WorkerEnd::cannot_judge}};
  for (const auto& [acts, end] : ends) {
    start({acts, kMeasures});
    EXPECT_GE(bench_->wants(), 4U) << "two of each";
    const std::size_t before = rows().size() - 2;
    add(6);
    std::map<std::int64_t, int> measured;
    for (const auto& [label, worker] : workers_by_label()) {
      ++measured[worker];
    }
    std::vector<WorkerRow> workers = rows();
    std::ranges::sort(workers, {}, &WorkerRow::id);
    if (workers.at(before).number != 1) {
      std::swap(workers.at(before), workers.at(before + 1));
    }
    EXPECT_EQ(workers.at(before).end, end) << acts;
    EXPECT_EQ(measured, (std::map<std::int64_t, int>{{workers.at(before).id, 1}, {workers.at(before + 1).id, 5}}));
    fleet_->dismiss();
  }
}

TEST_F(Spread, AWorkerThatHasAnotherReferenceIsNotAskedAgain) {
  start({"accept", kMeasures});
  add(4);
  const auto measured = workers_by_label();
  EXPECT_EQ(measured.size(), 4U);
  for (const auto& [label, worker] : measured) {
    EXPECT_EQ(worker, fleet_->row(1)) << label;
  }
  fleet_->refuse(1, "no more");
  EXPECT_TRUE(fleet_->is_idle(0));
  EXPECT_FALSE(bench_->can_measure());
  add(1);
  EXPECT_TRUE(workers_by_label().empty());
}

TEST_F(Spread, WhatEndsEveryWorkerIsNotMeasured) {
  start({"die"}, 5);
  add(1);
  EXPECT_TRUE(workers_by_label().empty());
  EXPECT_FALSE(fleet_->is_out(0));
  EXPECT_EQ(rows().size(), 3U);
}

TEST_F(Spread, AScanThatStopsLeavesItsWorkersToTheJudge) {
  start({"stay"});
  add(1);
  EXPECT_FALSE(bench_->take(std::chrono::steady_clock::now(), [](const std::string&) {}));
  EXPECT_FALSE(fleet_->is_idle(0));
  bench_->stop();
  while (!fleet_->is_idle(0)) {
    const auto event = fleet_->next(std::chrono::milliseconds(100));
    ASSERT_TRUE(!event || event->kind == FleetEvent::Kind::cancelled);
  }
}

TEST_F(Spread, ADeviceInAnotherStateLeavesTheScanToTheDriver) {
  FleetOptions other = scripted({kMeasures}, 1);
  other.commands[0] = replace_all(other.commands[0], " w1 ", " other ");
  EXPECT_EQ(start_fleet(other, *frame_)->bench(), nullptr);
  EXPECT_NE(start_fleet(scripted({kMeasures}, 1), *frame_)->bench(), nullptr);
}

}  // namespace
}  // namespace apo
