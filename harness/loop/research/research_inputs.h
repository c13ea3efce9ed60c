// harness/loop/research/research_inputs.h - what research is given: the profile, the registered variants, what the
// journal holds.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/inputs.h"
#include "harness/research/proposers/brief.h"
#include "harness/research/research.h"

namespace apo {

class Journal;

// The subject of research: what has to become faster, and where.
struct ResearchSubject {
  Workspace& workspace;  // its target is chosen
  Journal& journal;
  const Family& family;
  const Runtime& runtime;  // of the family
  const Workload& workload;
  const Policy& policy;
  Configuration incumbent;
  double application_share = 1;       // of the application's time that the family's kernels take
  double minimum_detectable = 0.003;  // log effect that this machine resolves
  std::uint64_t seed = 0;             // orders what is equal
  std::vector<ProposedSettings> proposed = {};
};

// The judged ones with the machines that they ran on.
std::vector<PastResult> past_results(Journal& journal, const std::vector<Experiment>& judged);
// Adds the work of a call and the machine to a diagnosis.
void describe_work(const Family& family, const Axes& axes, const Machine& machine, Diagnosis& diagnosis);
// Diagnoses a profile of a variant on the workspace's target.
Diagnosis diagnosis_of(const Workspace& workspace, const Runtime& runtime, const Workload& workload,
                       const Profile& profile);
// Adds machine and conditions under which candidates will be judged.
void describe_place(const Machine& machine, const Policy& policy, ResearchInputs& inputs);

// The operation and the place of these inputs, for a brief.
BriefSubject brief_subject(const Workspace& workspace, const Family& family, const ResearchInputs& inputs);

// `profile` is the incumbent's on the workload.
ResearchInputs research_inputs(const ResearchSubject& subject, const Profile& profile);

struct ResearchAnswer {
  ResearchInputs inputs;
  ResearchBrief brief;
};

// Returns the research of the next iteration of this campaign, from its starting point. The policy's target is the
// workspace's. Takes the incumbent's profile from the journal, or measures and keeps one; nothing else is written.
ResearchAnswer ask_research(Workspace& workspace, const Policy& policy, Observer& observer);

// The same on the machine of the journal, which need not be here, and with the profile that was taken there.
ResearchAnswer ask_recorded_research(Workspace& workspace, const Policy& policy, Observer& observer);

}  // namespace apo
