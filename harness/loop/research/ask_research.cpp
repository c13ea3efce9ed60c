// harness/loop/research/ask_research.cpp - takes what a campaign would begin with.
#include "harness/loop/research/ask_research.h"

#include "harness/loop/research/research_inputs.h"
#include "harness/loop/starting_point.h"
#include "harness/loop/workspace/application_share.h"
#include "harness/loop/workspace/kept_profile.h"
#include "harness/loop/workspace/recorded_profiles.h"
#include "journal/journal.h"

namespace apo {
namespace {

ResearchAnswer answer_from(Workspace& workspace, Journal& journal, const Policy& policy, const Profile& profile,
                           Observer& observer) {
  const Family& family = workspace.family(policy.family);
  const Runtime runtime = workspace.runtime(family);
  const ResearchSubject subject{.workspace = workspace,
                                .journal = journal,
                                .family = family,
                                .runtime = runtime,
                                .workload = workspace.workload(family, profile.workload),
                                .policy = policy,
                                .incumbent = profile.configuration,
                                .application_share = application_share(journal, policy.application_kernels, observer)};
  ResearchAnswer answer{.inputs = research_inputs(subject, profile), .brief = {}};
  answer.brief = research(answer.inputs);
  return answer;
}

}  // namespace

ResearchAnswer ask_research(Workspace& workspace, const Policy& policy, Observer& observer) {
  const Family& family = workspace.family(policy.family);
  const Workload& workload = workspace.workload(family, policy.workloads.front());
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  const Configuration incumbent = starting_point(workspace, journal, policy, observer);
  const Profile profile =
      kept_or_measured_profile(workspace, family, incumbent, workload, policy.cache_policy, false, observer);
  return answer_from(workspace, journal, policy, profile, observer);
}

ResearchAnswer ask_recorded_research(Workspace& workspace, const Policy& policy, Observer& observer) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  const Configuration incumbent = starting_point(workspace, journal, policy, observer);
  const Profile profile =
      recorded_profiles(workspace, {incumbent}, policy.workloads.front(), policy.cache_policy, observer).front();
  return answer_from(workspace, journal, policy, profile, observer);
}

}  // namespace apo
