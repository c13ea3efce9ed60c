// tests/loop/campaign_checks_test.cpp - a certification on a machine that is too restless for a part of it.
#include "harness/loop/campaign_checks.h"

#include <gtest/gtest.h>

#include <limits>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

// Too restless where the progress has these words.
struct RestlessMachine : Observer {
  std::string where;
  std::string said;
  void say(const std::string& line) override { said += line + "\n"; }
  void progress(const Progress& progress) override {
    if (progress.what.starts_with(where)) {
      throw EnvironmentError("this machine is too noisy", "run again");
    }
  }
};

TEST(Certification, OfTheOtherStateOfTheCachesMayBeMissing) {
  const TemporaryFolder folder("apo-certification-test");
  Workspace workspace(make_paths((folder.path() / "journal.db").string()));
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  add_machine(journal, workspace.machine());
  add_roofs(journal, workspace.machine().id, {{.name = "memory_copy", .value = 1e10, .unit = "byte/s"}});
  add_variant(journal, workspace.catalogue().get("copy/simple"));
  add_variant(journal, workspace.catalogue().get("copy/parallel"));
  Campaign campaign{.policy = {.family = "copy", .workload_class = "small", .workloads = {"n4k"}},
                    .baseline = {"copy/simple", {}},
                    .machine = workspace.machine().id};
  campaign.id = begin_campaign(journal, campaign);
  RestlessMachine machine;
  CampaignFrame frame = make_frame(workspace, journal, machine, campaign, false);
  frame.runtime.worker.program = APO_WORKER_PROGRAM;
  CampaignProgress state = make_state(frame);
  state.plan.preset.round_s = 0.02;
  state.plan.preset.pause_s = 0;
  state.plan.preset.slow_round = std::numeric_limits<double>::infinity();
  const auto certify = [&](const char* where) {
    machine.where = where;
    state.incumbent = {"copy/parallel", {}};
    state.accepts_since_certificate = 1;
    std::vector<Certification> certifications;
    certify_incumbent(frame, state, certifications);
    return certifications;
  };
  const std::vector<Certification> certified = certify("certify warm");
  ASSERT_EQ(certified.size(), 1U);
  EXPECT_EQ(certified.front().cache_policy, CachePolicy::cold);
  expect_contains(machine.said, "\nnot certified (warm): this machine is too noisy; run again\n");
  expect_contains(error_of<EnvironmentError>([&] { certify("certify cold"); }),
                  "copy/parallel is accepted, but not certified: this");
}

}  // namespace
}  // namespace apo
