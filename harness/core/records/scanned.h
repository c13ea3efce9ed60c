// harness/core/records/scanned.h - one coarse measurement of a configuration beside an incumbent: what ranks
// candidates, and never a verdict.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "harness/core/records/build.h"
#include "harness/core/records/conditions.h"
#include "harness/core/records/variant.h"

namespace apo {

// Where a scan measures: rows of two places have nothing to do with each other. Devices of one model in the same state
// are one place.
struct ScanPlace {
  std::string machine;  // Machine::id, in its present state
  std::string family;
  std::string workload;
  CachePolicy cache = CachePolicy::cold;
};
APO_FIELDS(ScanPlace, machine, family, workload, cache)

// What calls of a candidate and of the incumbent in turn took. Effects are natural logs of time(incumbent) /
// time(candidate).
struct ScanTimes {
  Outcome outcome = Outcome::valid;
  std::string evidence;  // of any other outcome
  int pairs = 0;         // of calls that were timed
  double time_ns = std::numeric_limits<double>::quiet_NaN();
  double incumbent_ns = std::numeric_limits<double>::quiet_NaN();
  double effect = std::numeric_limits<double>::quiet_NaN();
  double sd = std::numeric_limits<double>::quiet_NaN();  // of the effect
};
APO_FIELDS(ScanTimes, outcome, evidence, pairs, time_ns, incumbent_ns, effect, sd)

struct Scanned {
  std::int64_t id = 0;
  ScanPlace place;
  Configuration configuration;
  std::string source_hash;
  Configuration incumbent;
  std::string incumbent_source_hash;
  std::string build_key;  // "" where it did not come to that
  std::map<std::string, std::int64_t> resources;
  int level = 0;  // leaders are measured again with more calls; the newest row of a configuration counts
  ScanTimes times;
  double seconds = 0;       // of its build and its calls
  std::int64_t worker = 0;  // that measured it, of the journal; 0: the scan's own process
};
APO_FIELDS(Scanned, id, place, configuration, source_hash, incumbent, incumbent_source_hash, build_key, resources,
           level, times, seconds, worker)

}  // namespace apo
