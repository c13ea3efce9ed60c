// harness/loop/satellites.h - what a campaign leaves to others: its candidates to other devices, its result to an
// application. cli/ hands them in; the loop knows neither.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/scan/scan_bench.h"

namespace apo {

// The candidates of one iteration, at most as many as the campaign's policy says.
class RankedCandidates {
 public:
  RankedCandidates(std::vector<Candidate> ranked, int most, std::function<std::vector<Candidate>()> rank)
      : ranked_(std::move(ranked)), most_(static_cast<std::size_t>(most)), rank_(std::move(rank)) {}

  // The best that was not taken; nullopt when no other may be.
  std::optional<Candidate> best() const;
  std::optional<Candidate> take();
  // A verdict moves the predictions of its neighbours: the rest is ranked anew.
  void rank_anew();

 private:
  std::vector<Candidate> ranked_;
  std::size_t most_;
  std::function<std::vector<Candidate>()> rank_;
  std::set<std::string> taken_;  // labels
};

// Judges and scans candidates on other devices.
class RemoteJudge {
 public:
  RemoteJudge() = default;
  RemoteJudge(const RemoteJudge&) = delete;
  RemoteJudge& operator=(const RemoteJudge&) = delete;
  virtual ~RemoteJudge() = default;
  // Returns the experiments of the iteration, without rounds. Ends with the first acceptance, which is the state's
  // incumbent then: the profile was about the old one. Throws EnvironmentError when none could be judged.
  virtual std::vector<Experiment> judge(CampaignProgress& state, std::int64_t iteration,
                                        RankedCandidates& candidates) = 0;
  // For the scan of an iteration, when a device is there. nullptr: none is like this machine, so that this process
  // measures. Throws EnvironmentError when none is left.
  virtual std::unique_ptr<ScanBench> bench() = 0;
  // The iterations are over: the devices are free when it returns.
  virtual void finish() = 0;
};
using StartRemoteJudge = std::function<std::unique_ptr<RemoteJudge>(const CampaignFrame&)>;

// The final incumbent against the baseline in the declared application.
struct CampaignApplication {
  std::optional<ProgramComparison> comparison;
  std::string missing;  // why there is none, although one was declared and the incumbent is not the baseline
};
using JudgeByApplication = std::function<CampaignApplication(const CampaignFrame&, const Configuration& incumbent)>;

}  // namespace apo
