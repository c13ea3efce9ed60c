// harness/research/prediction/prediction.h - predicts the effect of a configuration over the incumbent from all that is
// known.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "harness/research/prediction/effects.h"
#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/scans.h"
#include "harness/research/prediction/statements.h"

namespace apo {

// The largest gain that a variant is credited with if the floor is unknown.
inline constexpr double kUnknownFloorBound = 4.0;

// The prediction for one configuration.
struct Forecast {
  double effect = 0;  // log speed-up over the incumbent
  double sd = 0;      // its standard deviation
  Prediction band;    // four of five effects; `because` names what it rests on. It ends where the floor does
  // The chance that the effect is larger than `least`.
  double chance_above(double least) const;
};

// Predicts variants over the incumbent. Of settings that nobody judged, scanned or proposed nothing is known.
class Predictor {
 public:
  // Keeps a reference to the inputs.
  Predictor(const ResearchInputs& inputs, const Evidence& evidence);

  // `bound` is the floor's, infinite if unknown. A band above it stays, because the floor may count on a slower unit
  // than the variant uses. The source of the band is `measurements` where it was judged here or scanned, and `nothing`
  // where no statement leads to the incumbent. Judgements here outweigh a scan, and a scan all else.
  Forecast predict(const Variant& variant, const Configuration& configuration, double bound) const;
  // Whether nine tenths of what is stated of it are judgements here.
  bool is_judged(const Variant& variant, const Configuration& configuration) const;
  const Scans& scans() const { return scans_; }

 private:
  Estimate stated(const Subject& subject) const;

  Subject incumbent_;
  Statements statements_;
  EffectNetwork network_;
  Scans scans_;
  double scan_part_;                                   // of an effect: how far verdicts lie from scans
  mutable std::map<std::size_t, Estimate> estimates_;  // over the incumbent, by node
};

}  // namespace apo
