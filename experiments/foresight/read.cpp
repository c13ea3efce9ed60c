// experiments/foresight/read.cpp - reads recorded campaigns and leaves each journal out in turn.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "experiments/foresight/foresight.h"
#include "harness/core/system/machine.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Key = std::tuple<double, double, std::string, std::string, std::string>;

// Identifies a judgement, because copies of a journal hold it twice.
Key key_of(const PastResult& past) {
  return {past.effect, past.lower, past.machine, past.candidate.label(), past.incumbent.label()};
}

bool is_timed(const PastResult& past) {
  return past.timed && std::isfinite(past.effect) && std::isfinite(past.lower);
}

std::vector<PastResult> judged_in(Journal& journal) {
  std::set<std::string> families;
  for (const Variant& variant : variants_of(journal, "")) {
    families.insert(variant.family);
  }
  std::vector<PastResult> all;
  for (const std::string& family : families) {
    std::ranges::copy_if(
        past_results(journal, newest_judged(journal, family, "", "", std::numeric_limits<std::int32_t>::max(),
                                            JudgedAt::others)),
        std::back_inserter(all), is_timed);
  }
  return all;
}

// Judgements of other journals, without copies of this one's; the campaign's own come when they were judged.
std::vector<PastResult> past_without(const std::vector<std::vector<PastResult>>& all, std::size_t journal) {
  std::set<Key> own;
  for (const PastResult& one : all[journal]) {
    own.insert(key_of(one));
  }
  std::vector<PastResult> past;
  for (const std::vector<PastResult>& results : all) {
    for (const PastResult& one : results) {
      if (!own.contains(key_of(one))) {
        past.push_back(one);
        past.back().experiment = 0;  // its number means another one here
      }
    }
  }
  return past;
}

std::vector<PastResult> of_family(const std::vector<PastResult>& past, const std::string& family) {
  std::vector<PastResult> its;
  std::ranges::copy_if(past, std::back_inserter(its),
                       [&](const PastResult& one) { return one.candidate.variant.starts_with(family + "/"); });
  return its;
}

// Variants that the campaign judged, as they were then, and the rest as they are today, without their texts.
std::vector<RegisteredVariant> variants_of(const Workspace& workspace, Journal& journal,
                                           const std::vector<Experiment>& experiments, const std::string& family) {
  std::map<std::string, Variant> variants;
  for (const Variant* variant : workspace.catalogue().of_family(family)) {
    variants[variant->id()] = *variant;
  }
  for (const Experiment& experiment : experiments) {
    for (const std::string& hash : {experiment.incumbent_source_hash, experiment.candidate_source_hash}) {
      if (const auto variant = find_variant(journal, hash)) {
        variants[variant->id()] = *variant;
      }
    }
  }
  std::vector<RegisteredVariant> registered;
  for (auto& [id, variant] : variants) {
    variant.source.clear();
    variant.headers.clear();
    registered.push_back({.variant = std::move(variant)});
  }
  return registered;
}

// False where this program does not know the family or the workload.
bool describe_known_work(const std::string& family_name, const Machine& machine, ResearchInputs& inputs) {
  const Family* family = find_family(family_name);
  if (family == nullptr) {
    return false;
  }
  Diagnosis& diagnosis = inputs.diagnosis;
  const auto workload = std::ranges::find(family->workloads, diagnosis.profile.workload, &Workload::name);
  if (workload == family->workloads.end()) {
    return false;
  }
  describe_work(*family, workload->axes, machine, diagnosis);
  return diagnosis.profile.time_ns > 0;
}

// Inputs that all stages of a campaign share.
struct CampaignFacts {
  Journal& journal;
  const Campaign& campaign;
  Machine machine;
  std::vector<RegisteredVariant> variants;
};

// Before the first experiment against its incumbent.
RecordedStage begin_stage(const CampaignFacts& facts, const Experiment& experiment, std::vector<PastResult> past) {
  RecordedStage stage;
  ResearchInputs& inputs = stage.inputs;
  inputs.incumbent = experiment.incumbent;
  describe_place(facts.machine, facts.campaign.policy, inputs);
  inputs.past = std::move(past);
  inputs.variants = facts.variants;
  for (const RegisteredVariant& one : inputs.variants) {
    if (one.variant.id() == experiment.incumbent.variant) {
      inputs.diagnosis.incumbent = one.variant;
      inputs.diagnosis.incumbent.techniques = techniques_of(one.variant, experiment.incumbent.settings);
    }
  }
  const std::vector<Profile> profiles = profiles_of_iteration(facts.journal, experiment.iteration);
  const std::string workload = experiment.workloads.empty() ? "" : experiment.workloads.front();
  inputs.diagnosis.profile = profiles.empty() ? Profile() : profiles.front();
  inputs.diagnosis.profile.workload = workload;
  stage.diagnosable = describe_known_work(facts.campaign.policy.family, facts.machine, inputs);
  return stage;
}

// One stage for each incumbent, in order.
RecordedCampaign read_campaign(const Workspace& workspace, Journal& journal, const Campaign& campaign,
                               std::vector<PastResult> past) {
  RecordedCampaign recorded{.journal = journal.path().string(), .stages = {}};
  const std::vector<Experiment> experiments = experiments_of(journal, campaign.id);
  const CampaignFacts facts{
      .journal = journal,
      .campaign = campaign,
      .machine = find_machine(journal, campaign.machine).value_or(Machine{.id = campaign.machine}),
      .variants = variants_of(workspace, journal, experiments, campaign.policy.family)};
  bool accepted = false;
  for (const Experiment& experiment : experiments) {
    const PastResult result = past_result(experiment, facts.machine);
    if (!is_timed(result) || result.candidate == result.incumbent) {
      continue;
    }
    if (recorded.stages.empty() || !(recorded.stages.back().inputs.incumbent == experiment.incumbent)) {
      recorded.stages.push_back(begin_stage(facts, experiment, past));
      recorded.stages.back().after_an_accept = accepted;
    }
    recorded.stages.back().judged.push_back(result);
    past.push_back(result);
    accepted |= result.verdict == Verdict::accepted;
  }
  return recorded;
}

std::vector<Key> keys_of(const RecordedCampaign& campaign) {
  std::vector<Key> keys;
  for (const RecordedStage& stage : campaign.stages) {
    std::ranges::transform(stage.judged, std::back_inserter(keys), key_of);
  }
  return keys;
}

}  // namespace

RecordedCampaigns recorded_campaigns(std::vector<fs::path> journals, std::vector<fs::path> known) {
  const Workspace workspace(make_paths(""));
  std::ranges::sort(journals);  // the same score in whatever order they are named
  std::ranges::sort(known);
  std::vector<Journal> open;
  std::vector<std::vector<PastResult>> judged;  // by journal
  for (const std::vector<fs::path>& paths : {journals, known}) {
    for (const fs::path& path : paths) {
      open.push_back(Journal::open(path, Access::read_only));
      judged.push_back(judged_in(open.back()));
    }
  }
  RecordedCampaigns campaigns;
  std::set<std::vector<Key>> seen;
  for (std::size_t number = 0; number < open.size(); ++number) {
    const std::vector<PastResult> past = past_without(judged, number);
    for (const Campaign& campaign : all_campaigns(open[number])) {
      RecordedCampaign recorded =
          read_campaign(workspace, open[number], campaign, of_family(past, campaign.policy.family));
      if (!recorded.stages.empty() && seen.insert(keys_of(recorded)).second) {
        (number < journals.size() ? campaigns.scored : campaigns.known).push_back(std::move(recorded));
      }
    }
  }
  return campaigns;
}

}  // namespace apo
