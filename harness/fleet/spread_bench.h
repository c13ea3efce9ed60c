// harness/fleet/spread_bench.h - a scan on the workers of a campaign, each with a share of what waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/fleet/fleet.h"
#include "harness/loop/scan/scan_bench.h"

namespace apo {

// Workers whose machine is in the driver's state measure; an effect is over the reference on the same device. What a
// worker has not measured when it ends, another one gets.
class SpreadBench : public ScanBench {
 public:
  // Both outlive it.
  SpreadBench(const CampaignFrame& frame, Fleet& fleet) : frame_(frame), fleet_(fleet) {}
  ~SpreadBench() override { stop(); }

  // A worker that has joined can measure, or one that has not may.
  bool can_measure() const;
  void measure_beside(const ScanReference& reference) override { reference_ = reference; }
  std::size_t wants() const override;
  void add(const std::vector<Configuration>& configurations, int level) override;
  // Throws EnvironmentError when no worker is left.
  std::optional<ScanMeasurement> take(Time latest, const Tell& tell) override;
  void stop() override;

 private:
  struct Share {
    std::int64_t task = 0;
    std::vector<Configuration> left;
  };
  bool fits(std::size_t worker) const;
  std::vector<std::size_t> idle() const;
  TaskSide side(const Configuration& configuration) const;
  void give(std::size_t worker, std::size_t most);
  std::optional<ScanMeasurement> on_event(const FleetEvent& event);

  const CampaignFrame& frame_;
  Fleet& fleet_;
  ScanReference reference_;
  int level_ = 0;
  std::deque<Configuration> waiting_;
  std::map<std::size_t, Share> shares_;  // by worker
  std::map<std::string, int> lost_;      // workers with what they had left, by its label
  std::set<std::size_t> unable_;         // workers that build the reference to other code
};

}  // namespace apo
