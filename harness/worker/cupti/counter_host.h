// harness/worker/cupti/counter_host.h - metrics of a chip without the chip: names, passes, values from counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/worker/cupti/range_profiler.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// A schedule of counters for the GPU. It has to live as long as a session that uses it.
struct CounterConfig {
  std::vector<std::uint8_t> image;
  std::size_t passes = 0;
};

// CUPTI's host object. It collects one list of metrics, so every list needs a new object.
class CounterHost {
 public:
  // `availability` is the GPU's, or empty for the chip's full set. Both libraries outlive this.
  CounterHost(const cupti::Library& library, const cupti::Profiler& profiler, std::string chip,
              const std::vector<std::uint8_t>& availability);
  CounterHost(const CounterHost&) = delete;
  CounterHost& operator=(const CounterHost&) = delete;
  ~CounterHost();

  // The reason why nothing below works, as one sentence.
  const std::string& missing() const { return missing_; }

  std::vector<std::string> base_metrics() const;
  // Returns ".sum", ".avg.per_second", ...; "" where the base has no roll-ups or is no base.
  std::vector<std::string> rollups(const std::string& base) const;
  // Call it once per object. Returns CUPTI's error.
  cupti::Result configure(const std::vector<std::string>& metrics, CounterConfig& config);
  // Evaluates one range of decoded counters.
  cupti::Result evaluate(const std::vector<std::uint8_t>& data, std::size_t range,
                         const std::vector<std::string>& metrics, std::vector<double>& values) const;

 private:
  const cupti::Library& library_;
  const cupti::Profiler& profiler_;
  std::string chip_;
  std::string missing_;
  void* host_ = nullptr;
};

// A list of metrics, ready for collection and evaluation.
struct CounterSchedule {
  std::unique_ptr<CounterHost> host;
  CounterConfig config;
  std::vector<std::string> metrics;    // those of the wanted ones that the chip has, each once and in order
  std::vector<RefusedMetric> refused;  // the others, with the reason
  std::string missing;                 // one sentence when nothing can be collected
};
CounterSchedule schedule_counters(const cupti::Library& library, const cupti::Profiler& profiler,
                                  const std::string& chip, const std::vector<std::uint8_t>& availability,
                                  const std::vector<std::string>& wanted);

// The names as CUPTI takes them; valid as long as `names`.
std::vector<const char*> c_names(const std::vector<std::string>& names);

}  // namespace apo
