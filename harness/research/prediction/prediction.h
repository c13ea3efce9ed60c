// harness/research/prediction/prediction.h - predicts the effect of a configuration over the incumbent from all that is
// known.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/research/prediction/effects.h"
#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/scans.h"

namespace apo {

// A band holds four effects of five: its ends are this many standard deviations from its middle.
inline constexpr double kBandReach = 1.2816;

double log_middle(const Prediction& band);

// Collects statements: judgements here, on other machines and on other workloads of the family; each variant's
// apo:predict, else the effect of its techniques, both shifted and widened by the record of such promises (of each
// proposer by his own); equality of two texts of one variant; the next setting of a tunable; a toggle by its effect in
// other settings, else by its technique. known_effects.cpp has their standard deviations.
class KnownEffects {
 public:
  struct Step {  // from one setting to another
    double effect = 0;
    double sd = 0;
    Basis basis = Basis::relation;
  };
  struct Nearest {
    std::size_t node = 0;
    Step step;  // from there; nothing when it is these very settings
  };
  // Keeps a reference to the inputs. Of the past it takes the newest thousand judgements.
  KnownEffects(const ResearchInputs& inputs, const Evidence& evidence);

  std::size_t nodes() const { return subjects_.size(); }
  std::size_t incumbent() const { return nodes_.at({incumbent_.configuration.label(), incumbent_.source_hash}); }
  const std::vector<StatedEffect>& statements() const { return statements_; }
  // The node of this text whose settings are the fewest steps away, among those before `before`; nullopt without any.
  std::optional<Nearest> nearest(const Variant& variant, const Settings& settings,
                                 std::size_t before = std::numeric_limits<std::size_t>::max()) const;

 private:
  struct Promise {  // over a base
    const Variant* base = nullptr;
    double effect = 0;
    double sd = 0;
    Basis basis = Basis::author;
  };
  struct Record {  // how promises of one kind did: shift is measured less promised
    double shift = 0;
    double sd = 0;
  };
  const Variant* find(const std::string& id) const;
  Step step(const Variant& variant, const Settings& from, const Settings& to) const;
  void collect_switches();
  Step switch_on(const Variant& variant, const Tunable& toggle) const;
  using Records = std::map<std::pair<Basis, std::string>, Record>;  // by whose they are
  static Promise promise_of(const Prediction& band);                // without a base
  std::optional<Promise> promise_of(const Variant& variant) const;
  std::string author_of(const Variant& variant) const;
  std::vector<double> misses_of(const RegisteredVariant& registered, Basis basis) const;
  Record record_of(Basis basis, const std::string& author) const;
  Records all_records() const;
  std::size_t node(const Subject& subject);
  void collect_nodes();
  double spread_since(const PastResult& past) const;
  void state_judgements();
  void state_promise(std::size_t from, std::size_t to, const Promise& promise, const Record& record);
  void state_promises();
  void state_proposed();  // the same of proposed settings
  void state_relations();

  const ResearchInputs& inputs_;
  std::vector<Bottleneck> causes_;  // in the incumbent's counters
  std::vector<PastResult> past_;
  Subject incumbent_;
  std::map<std::pair<std::string, std::string>, std::size_t> nodes_;  // label and source
  std::vector<Subject> subjects_;                                     // by node
  std::vector<StatedEffect> statements_;
  Records records_;
  std::map<std::pair<std::string, std::string>, Step> switches_;  // judged ones, by variant and toggle: 1 over 0
};

// The largest gain that a variant is credited with if the floor is unknown.
inline constexpr double kUnknownFloorBound = 4.0;

// The ends of a predicted band are this many standard deviations from its middle. Conformal: four of five of the
// effects under experiments/ lie inside, where each journal weighs the same, since the effects of one depend on each
// other, and one more journal is taken to have none inside (experiments/foresight).
inline constexpr double kPredictedReach = 1.55;
// The standard deviation of a scan's effect beside that of a judgement, in logs, beyond the spread of its own calls:
// this, and a part of the effect, since the slower one of two that are far apart has few calls
// (experiments/host-epyc/scan.md).
inline constexpr double kScanDeviation = 0.05;
inline constexpr double kScanDeviationOfEffect = 0.1;

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
  // of its weight are judgements here or it was scanned, and `nothing` where no statement leads to the incumbent.
  // Judgements of this very configuration here outweigh a scan, and a scan all else.
  Forecast predict(const Variant& variant, const Configuration& configuration, double bound) const;
  const Scans& scans() const { return scans_; }
  // Whether its prediction is a scan, and no judgement.
  bool goes_by_scan(const Variant& variant, const Configuration& configuration) const;

 private:
  Forecast by_statements(const Variant& variant, const Configuration& configuration, double bound) const;

  KnownEffects known_;
  EffectNetwork network_;
  Scans scans_;
  mutable std::map<std::size_t, Estimate> estimates_;  // over the incumbent, by node: many settings share one
};

}  // namespace apo
