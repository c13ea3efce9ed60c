// harness/loop/campaign.cpp - the order of the stages, and nothing else; every step is a row before the next begins.
#include "harness/loop/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/loop/iteration.h"
#include "harness/loop/policy.h"
#include "harness/loop/workspace/recover.h"
#include "reports/load.h"
#include "reports/render.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

// The variant without a parent: where a family's techniques start from.
Configuration root_configuration(Workspace& workspace, const std::string& family) {
  for (const Variant* variant : workspace.catalogue().of_family(family)) {
    if (variant->parent.empty() && variant->target == workspace.target()) {
      return {variant->id(), default_settings(*variant)};
    }
  }
  throw UserError("family " + family + " has no variant for target " + std::string(to_string(workspace.target())) +
                      " to start from",
                  "register one with 'apo register FILE', or name one with --baseline");
}

class CampaignRun {
 public:
  CampaignRun(Workspace& workspace, const Policy& policy, Observer& observer)
      : workspace_(workspace),
        observer_(observer),
        journal_(Journal::open(workspace.paths().journal, Access::read_write)),
        started_(Clock::now()) {
    summary_.policy = policy;
  }

  CampaignSummary run(bool remeasure_roofs) {
    summary_.recovered = recover(journal_, observer_);
    journal_.add_machine(workspace_.machine());
    open();
    IterationContext context{.workspace = workspace_,
                             .journal = journal_,
                             .observer = observer_,
                             .campaign = summary_.id,
                             .policy = summary_.policy,
                             .remeasure_roofs = remeasure_roofs};
    prepare(context);
    iterate(context);
    certify_champion(context);
    finish();
    return std::move(summary_);
  }

 private:
  void open() {
    Journal::Batch batch(journal_);  // of two that start at once, one finds the other's campaign
    open_or_resume();
    batch.commit();
  }

  void open_or_resume() {
    const Policy& asked = summary_.policy;
    if (const auto open = journal_.open_campaign(asked.family, asked.workload_class, workspace_.machine().id)) {
      journal_.take_campaign(*open);
      summary_.id = open->id;
      const Policy asked_now = asked;
      summary_.policy = open->policy;
      summary_.policy.solo_run_s = asked_now.solo_run_s;
      summary_.policy.application_kernels = asked_now.application_kernels;
      if (!summary_.policy.layout) {
        summary_.policy.layout = asked_now.layout;
      }
      summary_.baseline = open->baseline;
      summary_.resumed = true;
      // The secret seed of the interrupted run is gone with it, on purpose: rounds must not be foreseeable.
      summary_.policy.seed = secret_seed();
      count_iterations();
      observer_.say("resuming campaign " + std::to_string(open->id) + " at iteration " + std::to_string(done_ + 1) +
                    " of " + std::to_string(wanted()) + ", with the settings that it began with");
      return;
    }
    summary_.policy.seed = secret_seed();
    summary_.baseline = baseline();
    journal_.add_variant(workspace_.catalogue().get(summary_.baseline.variant));
    summary_.id = journal_.begin_campaign({.policy = summary_.policy,
                                           .baseline = summary_.baseline,
                                           .machine = workspace_.machine().id,
                                           .started_at = utc_now()});
    observer_.say("campaign " + std::to_string(summary_.id) + ": " + asked.family + " on " +
                  join(asked.workloads, ", ") + ", starting from " + summary_.baseline.label());
  }

  // Nobody else works on this campaign, so what has not ended was interrupted.
  void count_iterations() {
    const std::vector<IterationRow> rows = journal_.iterations(summary_.id);
    done_ = static_cast<int>(rows.size());
    interrupted_ = static_cast<int>(
        std::count_if(rows.begin(), rows.end(), [](const IterationRow& row) { return row.ended_at.empty(); }));
  }

  // An iteration that was interrupted does not count among those that were asked for.
  int wanted() const { return summary_.policy.iterations + interrupted_; }

  Configuration baseline() {
    const Policy& policy = summary_.policy;
    if (!policy.baseline.empty()) {
      const Configuration given = workspace_.catalogue().configuration(policy.baseline);
      if (!given.variant.starts_with(policy.family + "/")) {
        throw UserError("the baseline '" + policy.baseline + "' is not a variant of family " + policy.family);
      }
      return given;
    }
    if (const auto incumbent = journal_.incumbent(policy.family, policy.workload_class, workspace_.machine().id)) {
      const Variant* variant = workspace_.catalogue().find(incumbent->configuration.variant);
      if (variant != nullptr && variant->source_hash == incumbent->source_hash) {
        return incumbent->configuration;
      }
      observer_.say("the incumbent " + incumbent->configuration.label() +
                    " changed or is gone since it was accepted; starting from the family's root");
    }
    return root_configuration(workspace_, policy.family);
  }

  void prepare(IterationContext& context) {
    context.baseline = summary_.baseline;
    set_up(context);
    check_machine(context);
  }

  void iterate(IterationContext& context) {
    for (int index = done_ + 1; index <= wanted(); ++index) {
      if (out_of_budget()) {
        summary_.stopped = "the budget of " + format_seconds(summary_.policy.budget_s) + " is spent";
        break;
      }
      observer_.say("iteration " + std::to_string(index) + " of " + std::to_string(wanted()));
      summary_.iterations.push_back(run_iteration(context, index));
      if (context.accepts_since_certificate >= kCertifyEveryAccepts) {
        certify_champion(context);
      }
      if (summary_.iterations.back().experiments.empty()) {
        summary_.stopped = "nothing is left to try: 'apo report' says what was left out and why";
        break;
      }
    }
    summary_.champion = context.incumbent;
    if (!summary_.stopped.empty()) {
      observer_.say("stopping: " + summary_.stopped);
    }
  }

  bool out_of_budget() const {
    const double seconds = seconds_since(started_);
    return summary_.policy.budget_s > 0 && seconds > summary_.policy.budget_s;
  }

  void certify_champion(IterationContext& context) {
    if (context.accepts_since_certificate == 0) {
      return;
    }
    for (const CachePolicy cache : {CachePolicy::cold, CachePolicy::warm}) {
      summary_.certifications.push_back(certify_incumbent(context, cache));
      const Certification& one = summary_.certifications.back();
      observer_.say(fmt::format("certified ({}): {}", to_string(one.cache_policy), certified_text(one)) +
                    (one.alarm ? "  ALARM: well below what was claimed step by step" : ""));
    }
    context.accepts_since_certificate = 0;
  }

  void finish() {
    journal_.finish_campaign(summary_.id, summary_.policy.seed, summary_.stopped);
    const auto folder = workspace_.paths().reports / ("campaign-" + std::to_string(summary_.id));
    const report::ReportModel model = report::load_model(journal_, summary_.id);
    summary_.naive_effect = model.naive_effect;
    summary_.shrunken_effect = model.shrunken_effect;
    summary_.report = report::write_report(model, report::Format::markdown, folder).front();
    summary_.seconds = seconds_since(started_);
  }

  Workspace& workspace_;
  Observer& observer_;
  Journal journal_;
  Clock::time_point started_;
  CampaignSummary summary_;
  // Iterations of a resumed campaign.
  int done_ = 0;
  int interrupted_ = 0;  // of these
};

}  // namespace

CampaignSummary run_campaign(Workspace& workspace, const Policy& policy, Observer& observer, bool remeasure_roofs) {
  return CampaignRun(workspace, policy, observer).run(remeasure_roofs);
}

}  // namespace apo
