// harness/research/prediction/prediction.h - predicts the effect of a configuration over the incumbent.
#pragma once

#include <cstddef>
#include <map>

#include "harness/research/prediction/known_effects.h"

namespace apo {

// The largest gain that a variant is credited with if the floor is unknown.
inline constexpr double kUnknownFloorBound = 4.0;

// The ends of a predicted band are this many standard deviations from its middle. Conformal: four of five of the
// effects under experiments/ lie inside, where each journal weighs the same, since the effects of one depend on each
// other, and one more journal is taken to have none inside (experiments/foresight).
inline constexpr double kPredictedReach = 1.55;

// The prediction for one configuration.
struct Forecast {
  double effect = 0;  // log speed-up over the incumbent
  double sd = 0;      // its standard deviation
  Prediction band;    // four of five effects; `because` names what it rests on. It ends where the floor does
  // The chance that the effect is larger than `least`.
  double chance_above(double least) const;
};

// Predicts variants over the incumbent.
class Predictor {
 public:
  // Keeps a reference to the inputs.
  Predictor(const ResearchInputs& inputs, const Evidence& evidence);

  // `bound` is the floor's, infinite if unknown. A band above it stays, because the floor may count on a slower unit
  // than the variant uses. The source of the band is `measurements` where nine tenths
  // of its weight are judgements here, and `nothing` where no statement leads to the incumbent.
  Forecast predict(const Variant& variant, const Configuration& configuration, double bound) const;

 private:
  KnownEffects known_;
  EffectNetwork network_;
  mutable std::map<std::size_t, Estimate> estimates_;  // over the incumbent, by node: many settings share one
};

}  // namespace apo
