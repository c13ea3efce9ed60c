// tests/fleet/campaign_of_workers.h - an open campaign and iteration of "copy", whose workers a test starts.
#pragma once

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

  std::vector<WorkerRow> rows() { return workers_of(journal_, campaign_.id); }

  TemporaryFolder folder_{"apo-fleet-test"};
  Workspace workspace_{make_paths((folder_.path() / "journal.db").string())};
  SilentObserver observer_;
  Journal journal_ = Journal::open(workspace_.paths().journal, Access::read_write);
  Campaign campaign_;
  std::int64_t iteration_ = 0;
  std::optional<CampaignFrame> frame_;
  std::optional<Fleet> fleet_;
};

}  // namespace apo::testing
