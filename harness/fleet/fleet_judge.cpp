// harness/fleet/fleet_judge.cpp - keeps the workers of a campaign busy until an iteration has its acceptance.
#include "harness/fleet/fleet_judge.h"

#include "harness/core/error.h"
#include "harness/fleet/placed_experiments.h"

namespace apo {
namespace {

class FleetJudge : public RemoteJudge {
 public:
  FleetJudge(const FleetOptions& options, int replicate, const CampaignFrame& frame)
      : frame_(frame), fleet_(options, frame), replicate_(replicate) {}

  std::vector<Experiment> judge(CampaignProgress& state, std::int64_t iteration,
                                RankedCandidates& candidates) override {
    PlacedExperiments placed(frame_, state, fleet_, iteration, replicate_);
    std::vector<Experiment> experiments;
    while (candidates.best() || !placed.is_empty()) {
      if (candidates.best() && placed.can_take()) {
        placed.place(*candidates.take());
        continue;
      }
      if (auto experiment = placed.wait()) {
        experiment->rounds.clear();
        experiments.push_back(std::move(*experiment));
        if (experiments.back().judgement->verdict == Verdict::accepted) {
          break;
        }
        candidates.rank_anew();
      }
    }
    placed.stop();
    if (experiments.empty() && !placed.given_up().empty()) {
      throw EnvironmentError("no candidate of this iteration could be judged: " + placed.given_up(),
                             "the same command goes on with the campaign once its workers can judge them");
    }
    return experiments;
  }

  void finish() override { fleet_.dismiss(); }

 private:
  const CampaignFrame& frame_;
  Fleet fleet_;
  int replicate_;
};

}  // namespace

std::unique_ptr<RemoteJudge> start_fleet(const FleetOptions& options, int replicate, const CampaignFrame& frame) {
  return std::make_unique<FleetJudge>(options, replicate, frame);
}

}  // namespace apo
