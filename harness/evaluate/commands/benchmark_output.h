// harness/evaluate/commands/benchmark_output.h - reads the time of one benchmark from the JSON of Google Benchmark and
// NVBench.
#pragma once

#include <string>

#include "harness/worker/protocol/result.h"

namespace apo {

// Seconds. `name` is the benchmark's name, empty where there is only one. Of several repetitions the median, also where
// the program reports aggregates alone.
Result<double> google_benchmark_seconds(const std::string& json, const std::string& name);

// Seconds: the summary nv/cold/time/gpu/mean. `name` is BENCHMARK, or "BENCHMARK [STATE]" as NVBench's log writes it;
// empty where one state was measured.
Result<double> nvbench_seconds(const std::string& json, const std::string& name);

}  // namespace apo
