// tests/cuda/metric_lists.h - the lists of counters whose collection is timed: by a test, and against Nsight Compute;
// and where that time went.
#pragma once

#include <string>
#include <vector>

#include "harness/core/text.h"
#include "harness/worker/cupti/metric_names.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo::testing {

// 44 counters in 15 passes on GH100.
inline std::vector<std::string> long_list() {
  constexpr std::size_t kWithDefaults = 36;
  std::vector<std::string> metrics = stall_counters();
  for (const std::string& name : default_counters()) {
    if (metrics.size() < kWithDefaults) {
      metrics.push_back(name);
    }
  }
  for (const char* name :
       {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "l1tex__t_sector_hit_rate.pct",
        "l1tex__data_bank_conflicts_pipe_lsu.sum", "sm__inst_executed_pipe_xu.sum", "sm__inst_executed_pipe_tensor.sum",
        "gpc__cycles_elapsed.avg.per_second", "dram__cycles_elapsed.avg.per_second"}) {
    metrics.push_back(name);
  }
  return metrics;
}

// What a question about memory and arithmetic needs.
inline std::vector<std::string> short_list() {
  return {"dram__bytes_read.sum",
          "dram__bytes_write.sum",
          "sm__warps_active.avg.pct_of_peak_sustained_active",
          "smsp__inst_executed.sum",
          "lts__t_sector_hit_rate.pct",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
          "smsp__issue_active.avg.pct_of_peak_sustained_active",
          "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
          "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
          "sm__sass_inst_executed_op_global_ld.sum",
          "gpu__time_duration.sum"};
}

// "profiler start 61.0 ms, session 12.1 ms, ...": what took a millisecond or more, and what it was worth a word.
inline std::string steps_text(const CounterReport& report) {
  constexpr double kShown = 1e-3;
  std::string text;
  double rest = 0;
  for (const CountingStep& one : report.steps) {
    const bool shown = one.seconds >= kShown || one.seconds == 0;
    text += shown ? one.what + " " + format_ns(1e9 * one.seconds) + ", " : "";
    rest += shown ? 0 : one.seconds;
  }
  return text + "the rest " + format_ns(1e9 * rest);
}

}  // namespace apo::testing
