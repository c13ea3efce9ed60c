// harness/research/foresight.h - scores predictions against what was measured: those that were recorded, and those that
// this program makes of the same past.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/research/inputs.h"

namespace apo {

// Candidates that were judged against one incumbent of a campaign.
struct RecordedStage {
  ResearchInputs inputs;           // as research would be asked before the first of them, without any of them
  std::vector<PastResult> judged;  // timed, in order
  bool after_an_accept = false;    // the campaign had accepted something before
  double first_bound = 0;          // of the first bottleneck that was named; 0: none
  bool diagnosable = false;        // inputs.diagnosis has the work of a call, so that it can be diagnosed again
};

struct RecordedCampaign {
  std::string name;
  std::string journal = {};           // whose effects depend on each other
  std::vector<RecordedStage> stages;  // one at least, with one candidate at least
};

// All that a campaign judged, each configuration once, in order.
std::vector<PastResult> judged_once(const RecordedCampaign& campaign);
// The variant that the campaign ended with; "" where it accepted nothing.
std::string final_variant(const RecordedCampaign& campaign);

// Bands that are to hold four effects of five, in logs.
struct BandScore {
  int bands = 0;
  int inside = 0;        // effects in their band
  double penalties = 0;  // of all bands: width + 10 x what the effect lies outside of it
  void add(double low, double high, double effect);
  double interval_score() const;  // the mean penalty; 0 of none
};

// How good the foresight of one researcher was. Effects are in logs. "Later" is after a campaign's first accept.
struct Foresight {
  int right_pairs = 0;  // of later candidates against one incumbent, one of them reverted: the faster was tried before
  int wrong_pairs = 0;
  double until_final = 0;          // experiments until the variant that the campaign ended with, on average
  double seconds_until_final = 0;  // that judging these took, against the incumbents that they were judged against
  int improved = 0;                // campaigns that accepted something
  BandScore bands;
  BandScore later_bands;   // those of later candidates
  double later_error = 0;  // mean distance of the effect from the estimate, else from the middle of the band
  int later = 0;
  // As a campaign goes, which ranks the rest anew after each verdict.
  int after_last_accept = 0;  // experiments that it would make there
  int lost_accepts = 0;       // that it would not have tried
  int bounded = 0;            // accepts of which the first bottleneck had a bound; effects above that
  int above_bound = 0;
};

// Bands of this program whose reach, in standard deviations, is that of the other journals alone: the finite-sample
// conformal quantile, each journal with the same weight.
struct HeldOutBands {
  BandScore bands;
  double reach = 0;  // that all journals together ask for
};

struct ForesightReport {
  Foresight recorded;
  Foresight now;
  HeldOutBands held_out;
  int attacked = 0;        // accepts of which a profile tells what all their causes could give together
  int above_attacked = 0;  // effects above that
  int experiments = 0;
  int accepted = 0;
};

ForesightReport score_foresight(const std::vector<RecordedCampaign>& campaigns);

}  // namespace apo
