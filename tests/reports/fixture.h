// tests/reports/fixture.h - campaigns made by hand, with the records that the stages would write.
#pragma once

#include "reports/model.h"

namespace apo::report::fixture {

// Two iterations: accepted, reverted, inconclusive, incorrect, and an abandoned one; certified cold and warm.
CampaignRecords realistic_campaign();
// The same campaign on a GPU whose counters could be read: stalls and hottest lines of both incumbents.
CampaignRecords sampled_campaign();
// No experiment, no profile.
CampaignRecords empty_campaign();
// Every candidate was stopped by a gate.
CampaignRecords failed_campaign();
// `count` experiments with verdicts of all kinds and long names.
CampaignRecords long_campaign(int count);
// Names, evidence, lessons and logs that try to break out of every format.
CampaignRecords hostile_campaign();

Experiment timed_experiment(int index, const Configuration& candidate, const Configuration& incumbent, Verdict verdict,
                            Reason reason, double effect, double half_width);

// Holds a text against tests/golden/reports/NAME; APO_APPROVE=1 writes it there.
void expect_approved(const std::string& name, const std::string& text);
// A line for each path of a JSON document, with all values that stand there: lists are walked through.
std::string lines_by_path(const std::string& json);
// The lines that a report has and the realistic campaign's has not ("+"), and those that it lacks ("-").
std::string beside_the_realistic(const std::string& markdown);

}  // namespace apo::report::fixture
