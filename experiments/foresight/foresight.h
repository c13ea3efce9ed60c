// experiments/foresight/foresight.h - scores predictions against measured effects: recorded predictions, and those that
// this program makes of the same past.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/research/inputs.h"

namespace apo {

// Candidates that were judged against one incumbent of a campaign.
struct RecordedStage {
  ResearchInputs inputs;           // of research before the first of them, without any of them
  std::vector<PastResult> judged;  // timed, in order
  bool after_an_accept = false;    // the campaign had accepted something before
  bool diagnosable = false;        // inputs.diagnosis has the work of a call, so that it can be diagnosed again
};

struct RecordedCampaign {
  std::string journal;                // whose effects depend on each other
  std::vector<RecordedStage> stages;  // one at least, with one candidate at least
};

struct RecordedCampaigns {
  std::vector<RecordedCampaign> scored;  // of the journals
  std::vector<RecordedCampaign> known;   // of the journals that are only known
};

// Reads every campaign that timed a candidate; of one that several journals hold, as copies of a journal do, the first.
// Its past is what the other journals and those of `known` hold, and what the campaign itself had judged before: the
// rest of its own journal is left out, and copies of its experiments in others are too. Variants are as the journal has
// them where it judged them, else as the catalogue has them. Throws UserError where a journal cannot be read.
RecordedCampaigns recorded_campaigns(std::vector<std::filesystem::path> journals,
                                     std::vector<std::filesystem::path> known);

// Returns all that a campaign judged, each configuration once, in order.
std::vector<PastResult> judged_once(const RecordedCampaign& campaign);
// Returns the variant that the campaign ended with; "" where it accepted nothing.
std::string final_variant(const RecordedCampaign& campaign);

// Bands that are to hold four effects of five, in logs.
struct BandScore {
  int bands = 0;
  int inside = 0;        // effects in their band
  double penalties = 0;  // of all bands: width + 10 x the effect's distance from it
  void add(double low, double high, double effect);
  double interval_score() const;  // the mean penalty; 0 of none
};

// The foresight of one researcher. Effects are in logs. "Later" is after a campaign's first accept.
struct Foresight {
  int right_pairs = 0;  // of later candidates against one incumbent, one of them reverted: the faster was tried before
  int wrong_pairs = 0;
  double until_final = 0;  // experiments until the variant that the campaign ended with, on average
  int improved = 0;        // campaigns that accepted something
  BandScore bands;
  BandScore later_bands;   // those of later candidates
  double later_error = 0;  // mean distance of the effect from the estimate, else from the middle of the band
  int later = 0;
  int after_last_accept = 0;  // experiments there, of a campaign that ranks the rest anew after each verdict
};

struct ForesightReport {
  Foresight recorded;
  Foresight now;
  double reach = 0;      // of four effects of five, in standard deviations: conformal, each journal with one weight
  int lost_accepts = 0;  // that this program would not try
  int attacked = 0;      // accepts whose bottlenecks a profile names; effects above their savings together
  int above_attacked = 0;
  int experiments = 0;
  int accepted = 0;
};

ForesightReport score_foresight(const std::vector<RecordedCampaign>& campaigns);

// The score of knowing nothing of the candidates: a random order, and one band for every candidate, from the tenth to
// the ninetieth percentile of the effects in the other journals, with their median as the estimate. Candidates before a
// campaign's first accept have one band, later ones another.
struct Baseline {
  double until_final = 0;  // experiments to expect until the variant that the campaign ended with, on average
  BandScore bands;
  BandScore later_bands;
  double later_error = 0;  // mean distance of a later effect from the estimate
  int later = 0;
};

// `known` are campaigns of further journals.
Baseline score_baseline(const std::vector<RecordedCampaign>& campaigns, const std::vector<RecordedCampaign>& known);

}  // namespace apo
