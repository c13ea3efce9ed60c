// harness/loop/research/research_inputs.cpp - asks catalogue, runtime and journal.
#include "harness/loop/research/research_inputs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "harness/implement/plain_call.h"
#include "harness/implement/variant/args_header.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/kept_profile.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/research/proposals.h"
#include "journal/facts/research/scans.h"
#include "journal/journal.h"

namespace apo {
namespace {

// Experiments of this machine and workload class that research goes by: what came before them may be tried again.
constexpr std::int64_t kRemembered = 20'000;
constexpr std::int64_t kRememberedOfOthers = 1'000;

std::vector<RegisteredVariant> registered_variants(const ResearchSubject& subject) {
  std::vector<RegisteredVariant> variants;
  const std::map<std::string, std::string> authors = authors_of(subject.journal, subject.family.name);
  for (const Variant* variant : subject.workspace.catalogue().of_family(subject.family.name)) {
    RegisteredVariant registered{.variant = *variant,
                                 .supported = true,
                                 .why_not = "",
                                 .waits = is_waiting_proposal(subject.workspace, *variant)};
    if (const auto author = authors.find(variant->id()); author != authors.end()) {
      registered.author = author->second;
    }
    if (variant->target != subject.workspace.target()) {
      registered.supported = false;
      registered.why_not = "its target is " + std::string(to_string(variant->target));
      registered.kind = LeftOutKind::other_target;
    } else {
      registered.supported = supports(*variant, subject.family, subject.workload.axes, default_settings(*variant),
                                      &registered.why_not, subject.workspace.device_symbols());
    }
    variants.push_back(std::move(registered));
  }
  return variants;
}

// Those of elsewhere first: where the newest are taken, it is those of here.
std::vector<PastResult> known_results(Journal& journal, const std::string& family, const std::string& workload_class,
                                      const std::string& machine) {
  std::vector<Experiment> judged =
      newest_judged(journal, family, workload_class, machine, kRememberedOfOthers, JudgedAt::others);
  std::ranges::move(newest_judged(journal, family, workload_class, machine, kRemembered), std::back_inserter(judged));
  return past_results(journal, judged);
}

}  // namespace

std::vector<PastResult> past_results(Journal& journal, const std::vector<Experiment>& judged) {
  std::map<std::string, Machine> machines;
  std::vector<PastResult> past;
  for (const Experiment& experiment : judged) {
    const auto [known, added] = machines.try_emplace(experiment.machine);
    if (added) {
      known->second = find_machine(journal, experiment.machine).value_or(Machine{.id = experiment.machine});
    }
    past.push_back(past_result(experiment, known->second));
  }
  return past;
}

void describe_work(const Family& family, const Axes& axes, const Machine& machine, Diagnosis& diagnosis) {
  diagnosis.work = family.work(axes);
  diagnosis.axes = axes;
  diagnosis.units = family.unit_count(axes);
  diagnosis.l2_bytes = machine.l2_bytes;
  diagnosis.has_doubles = has_doubles(family);
}

Diagnosis diagnosis_of(const Workspace& workspace, const Runtime& runtime, const Workload& workload,
                       const Profile& profile) {
  const std::vector<std::int64_t> scratch = runtime.scratch(profile.configuration, workload.axes);
  Diagnosis diagnosis{
      .profile = profile,
      .incumbent = as_set(workspace.catalogue().get(profile.configuration.variant), profile.configuration.settings),
      .scratch_bytes = std::accumulate(scratch.begin(), scratch.end(), 0.0)};
  describe_work(*runtime.family, workload.axes, workspace.machine(), diagnosis);
  return diagnosis;
}

void describe_place(const Machine& machine, const Policy& policy, ResearchInputs& inputs) {
  inputs.machine = machine.id;
  inputs.model = machine.model;
  inputs.isa = machine.isa;
  inputs.sms = machine.target == Target::cuda ? machine.cores : 0;
  inputs.workload_class = policy.workload_class;
  inputs.cache = policy.cache_policy;
}

BriefSubject brief_subject(const Workspace& workspace, const Family& family, const ResearchInputs& inputs) {
  const Diagnosis& diagnosis = inputs.diagnosis;
  return {.family = family,
          .machine = workspace.machine(),
          .signature = plain_signature(family, diagnosis.incumbent),
          .argument_header = args_header(family, diagnosis.incumbent, diagnosis.axes, inputs.incumbent.settings)};
}

ResearchInputs research_inputs(const ResearchSubject& subject, const Profile& profile) {
  const Machine& machine = subject.workspace.machine();
  ResearchInputs inputs;
  inputs.diagnosis = diagnosis_of(subject.workspace, subject.runtime, subject.workload, profile);
  inputs.incumbent = subject.incumbent;
  describe_place(machine, subject.policy, inputs);
  inputs.variants = registered_variants(subject);
  inputs.proposed = subject.proposed;
  inputs.past = known_results(subject.journal, subject.family.name, inputs.workload_class, inputs.machine);
  inputs.scanned = scanned_at(subject.journal, {.machine = machine.id,
                                                .family = subject.family.name,
                                                .workload = subject.workload.name,
                                                .cache = subject.policy.cache_policy});
  inputs.lessons = lessons_of(subject.journal, {.family = subject.family.name,
                                                .workload_class = inputs.workload_class,
                                                .model = inputs.model,
                                                .verdict = Verdict::reverted,
                                                .incumbent_source = inputs.diagnosis.incumbent.source_hash,
                                                .newest = kRemembered});
  inputs.share = subject.application_share;
  inputs.minimum_detectable = subject.minimum_detectable;
  inputs.seed = subject.seed;
  return inputs;
}

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
