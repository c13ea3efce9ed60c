// tests/fleet/campaign_of_workers.h - an open campaign and iteration of "copy", whose workers a test starts.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/fleet/fleet.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"
#include "tests/shipped_families.h"

namespace apo::testing {

class CampaignOfWorkers : public ::testing::Test {
 protected:
  void SetUp() override {
    add_machine(journal_, workspace_.machine());
    add_roofs(journal_, workspace_.machine().id, {{.name = "memory_copy", .value = 1e10, .unit = "byte/s"}});
    campaign_ = {.policy = {.family = "copy", .workload_class = "small", .workloads = {"n4k"}},
                 .baseline = {"copy/simple", {}},
                 .machine = workspace_.machine().id};
    add_variant(journal_, workspace_.catalogue().get("copy/simple"));
    campaign_.id = begin_campaign(journal_, campaign_);
    iteration_ = begin_iteration(journal_, {.campaign = campaign_.id, .index = 1, .incumbent = campaign_.baseline});
    frame_.emplace(make_frame(workspace_, journal_, observer_, campaign_, false));
  }

  // The process of the worker's command. They are children of this one, in the order of their start.
  static pid_t pid(std::size_t worker) {
    std::ifstream children("/proc/thread-self/children");
    pid_t found = 0;
    for (std::size_t i = 0; i <= worker; ++i) {
      children >> found;
    }
    return found;
  }

  // Workers "w1", "w2", ... that do one of these acts a task.
  FleetOptions scripted(const std::vector<std::string>& acts, int most_failures) const {
    FleetOptions options{.commands = {},
                         .program = identity_of_program("simulated", APO_SCRIPTED_WORKER),
                         .silence_s = silence_s_,
                         .restart_after_s = 0.01};
    for (const std::string& own : acts) {
      options.commands.push_back(fmt::format("exec " APO_SCRIPTED_WORKER " w{} " APO_SOURCE_FOLDER
                                             "/experiments/nvidia-h200/b8_t512_h83_n64/backward.db {}",
                                             options.commands.size() + 1, own));
    }
    options.most_failures = most_failures;
    return options;
  }

  std::vector<WorkerRow> rows() { return workers_of(journal_, campaign_.id); }

  TemporaryFolder folder_{"apo-fleet-test"};
  Workspace workspace_{make_paths((folder_.path() / "journal.db").string())};
  SilentObserver observer_;
  Journal journal_ = Journal::open(workspace_.paths().journal, Access::read_write);
  Campaign campaign_;
  std::int64_t iteration_ = 0;
  double silence_s_ = 600;
  std::optional<CampaignFrame> frame_;
  std::optional<Fleet> fleet_;
};

}  // namespace apo::testing
