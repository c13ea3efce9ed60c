// harness/loop/scan/scan_bench.h - where the configurations of a scan are built and measured: in this process, or on
// workers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/scanned.h"

namespace apo {

// What calls are timed beside. Two devices with the same `build_key` have the same code of it.
struct ScanReference {
  Configuration configuration;
  std::string source_hash;
  std::string build_key;
};

struct ScanMeasurement {
  Scanned row;          // without its number
  double build_s = 0;   // waiting for its build
  double timing_s = 0;  // likewise, with the check
};
APO_FIELDS(ScanMeasurement, row, build_s, timing_s)

class ScanBench {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Tell = std::function<void(const std::string& what)>;
  ScanBench() = default;
  ScanBench(const ScanBench&) = delete;
  ScanBench& operator=(const ScanBench&) = delete;
  virtual ~ScanBench() = default;

  // What is measured from here on is measured beside it.
  virtual void measure_beside(const ScanReference& reference) = 0;
  // How many configurations it takes now; 0: those that it has keep it busy.
  virtual std::size_t wants() const = 0;
  // All that wait have one level.
  virtual void add(const std::vector<Configuration>& configurations, int level) = 0;
  // One that was added, in any order. nullopt: none is left, it is that late, or no device can measure any more. Throws
  // EnvironmentError where the reference does not run.
  virtual std::optional<ScanMeasurement> take(Time latest, const Tell& tell) = 0;
  // Forgets what was added and not taken.
  virtual void stop() = 0;
};

}  // namespace apo
