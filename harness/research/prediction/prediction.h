// harness/research/prediction/prediction.h - speed-up bands: how they combine, how a candidate's is made, how past ones
// scored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/research/prediction/evidence.h"

namespace apo {

// ---------------------------------------------------------------- bands

// The most that a variant without any relation, or one without a known floor, counts as.
inline constexpr double kUnknownFloorBound = 4.0;

// Composes a, then b: the band of C over A from C over B and B over A. The result is an idea, whatever the two are.
Prediction composed(const Prediction& a, const Prediction& b);
// Inverts B over A into A over B.
Prediction inverted(const Prediction& band);
double log_middle(const Prediction& band);
// Limits a band to `bound`. A band above the bound keeps its width, 1.1x to 2x, below it: such a promise is uncertain,
// and will not hit the bound exactly.
Prediction capped(Prediction band, double bound);
// Widens a promise that no diagnosis supports: the low end moves half way back to no effect, or half as far again below
// it.
Prediction unsupported(Prediction band);
// False for bands that no file should hold: not finite, not positive, or low > high.
bool is_band(const Prediction& band);

// ---------------------------------------------------------------- scoring

struct ScoredPrediction {
  Prediction predicted;
  double effect = 0;  // log, measured, with its interval
  double lower = 0;
  double upper = 0;
};

struct Calibration {
  int count = 0;
  double hit_rate = 0;        // share whose measured interval touches the predicted band
  double mean_log_error = 0;  // of measured minus middle of the band; < 0: predictions promise too much
  double mean_abs_log_error = 0;
  // The factor for the middle of the next predictions, in logs: the ridge estimate of measured / predicted, drawn
  // towards 1 as if four predictions of 1.2x had come true exactly. In [0, 2].
  double factor = 1.0;
};

Calibration calibrate(const std::vector<ScoredPrediction>& scored);
// Moves the band's middle to factor x middle (in logs) and keeps its width.
Prediction corrected(const Prediction& band, const Calibration& calibration);
// Returns the calibration of all predictions of the journal that can be scored.
Calibration calibration_of(const Evidence& evidence);

// ---------------------------------------------------------------- predicting

// Predicts variants over the incumbent.
class Predictor {
 public:
  // Keeps references; both must outlive it.
  Predictor(const ResearchInputs& inputs, const Evidence& evidence);

  // The effect of `configuration` (of `variant`) over the incumbent, from the best source there is:
  // 1. a chain of measurements that ends at this very configuration;
  // 2. apo:predict (or the technique's prior) along the ancestry to the nearest ancestor that is the incumbent, or is
  //    measured against it, or is predicted as an ancestor of both; corrected by past scores;
  // 3. nothing predicts it: from 1 / bound to bound, and the source says so.
  // `because` says which. All but measurements are capped at `bound`, what the floor leaves (infinite when unknown).
  Prediction predict(const Variant& variant, const Configuration& configuration, double bound) const;

  const Calibration& calibration() const { return calibration_; }

 private:
  struct Link {
    const Variant* ancestor = nullptr;
    Prediction band;  // of the descendant over this ancestor
  };
  const Variant* find(const std::string& id) const;
  Subject subject(const Variant& variant) const;
  static std::optional<Prediction> prior_over(const Variant& variant, const Variant& base);
  std::vector<Link> ancestry(const Variant& variant) const;
  std::optional<Prediction> over_incumbent(const Variant& variant) const;

  const ResearchInputs& inputs_;
  const Evidence& evidence_;
  Subject incumbent_;
  Calibration calibration_;
};

// Returns the techniques of `variant` that `base` does not have.
std::vector<std::string> added_techniques(const Variant& variant, const Variant& base);

}  // namespace apo
