// harness/loop/scan/own_bench.h - builds on all cores of this process, and measures on its device what is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <vector>

#include "harness/core/observer.h"
#include "harness/evaluate/scan/scan_process.h"
#include "harness/loop/scan/builds_ahead.h"
#include "harness/loop/scan/scan_bench.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

inline constexpr std::size_t kScanBatch = 32;         // chosen together
inline constexpr std::size_t kScanBatchOfThread = 2;  // on a host

class OwnBench : public ScanBench {
 public:
  // `workspace`, `runtime` of the place's family, and `workload` outlive it.
  OwnBench(Workspace& workspace, Observer& observer, const Runtime& runtime, const Workload& workload, ScanPlace place,
           std::uint64_t seed)
      : workspace_(workspace),
        observer_(observer),
        runtime_(runtime),
        workload_(workload),
        place_(std::move(place)),
        seed_(seed) {}
  ~OwnBench() override { stop(); }

  void measure_beside(const ScanReference& reference) override;
  std::size_t wants() const override;
  void add(const std::vector<Configuration>& configurations, int level) override;
  std::optional<ScanMeasurement> take(Time latest, const Tell& tell) override;
  void stop() override;

  // Between two scans; nullopt: it takes longer than until then.
  std::optional<Build> built(const Configuration& configuration, Time latest);

 private:
  bool on_gpu() const { return runtime_.worker.target == Target::cuda; }
  std::size_t added() const { return built_.size() + (builds_ ? builds_->added().size() : 0); }
  Build build(const Configuration& configuration) const;
  DeviceTurns::Turn turn();
  void take_builds(Time latest, const Tell& tell);
  ScanProcess& process();

  Workspace& workspace_;
  Observer& observer_;
  const Runtime& runtime_;
  const Workload& workload_;
  ScanPlace place_;
  std::uint64_t seed_;
  ScanReference reference_;
  int level_ = 0;
  std::optional<std::stop_source> stop_;  // of the builds
  std::optional<BuildsAhead> builds_;
  std::deque<TimedArm> built_;
  std::optional<ScanProcess> process_;  // beside the reference
};

}  // namespace apo
