// tests/cuda/metric_lists.h - the lists of counters whose collection is timed: by a test, and against Nsight Compute.
#pragma once

#include <string>
#include <vector>

#include "harness/worker/metric_names.h"

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

}  // namespace apo::testing
