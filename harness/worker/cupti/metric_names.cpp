// harness/worker/cupti/metric_names.cpp - the sets of counters, and suggestions for unknown names.
#include "harness/worker/cupti/metric_names.h"

#include <algorithm>
#include <array>
#include <set>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";
constexpr std::string_view kNotIssued = "_not_issued";
constexpr std::string_view kSamplePrefix = "smsp__pcsamp_warps_issue_stalled_";

std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  for (const char letter : std::string(name) + "_") {
    if (letter == '_' || letter == '.') {
      words.insert(word);
      word.clear();
    } else {
      word += letter;
    }
  }
  words.erase("");
  return words;
}

std::vector<std::string> joined(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

std::string between(std::string_view name, std::string_view prefix, std::string_view suffix) {
  const bool fits = name.size() > prefix.size() + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix);
  return fits ? std::string(name.substr(prefix.size(), name.size() - prefix.size() - suffix.size())) : "";
}

}  // namespace

const std::vector<std::string>& default_counters() {
  static const std::vector<std::string> names = {
      "gpu__time_duration.sum", "sm__cycles_active.avg", "dram__bytes_read.sum", "dram__bytes_write.sum",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum",
      "lts__t_sector_hit_rate.pct", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
      // occupancy and issue
      "sm__warps_active.avg.pct_of_peak_sustained_active", "smsp__issue_active.avg.pct_of_peak_sustained_active",
      "smsp__inst_executed.sum", "smsp__thread_inst_executed_per_inst_executed.ratio",
      "sm__warps_active.avg.per_cycle_active", "sm__cycles_active.sum",
      "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "sm__cycles_elapsed.avg.per_second",
      // shared memory
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
      "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
      // global and local memory
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
      "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", "sm__sass_inst_executed_op_global_ld.sum",
      "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", "sm__sass_inst_executed_op_global_st.sum",
      "sm__sass_inst_executed_op_local.sum", "sm__sass_data_bytes_mem_local.sum",
      "sm__sass_inst_executed_op_global_atom.sum", "sm__sass_inst_executed_op_global_red.sum",
      "sm__sass_inst_executed_op_shared_atom.sum",
      // constants and barriers, which share a unit
      "smsp__inst_executed_op_ldc.sum", "idc__requests.sum",
      "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed_pipe_adu.sum",
      // pipes
      "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
      "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
      // instructions by kind
      "smsp__thread_inst_executed.sum", "smsp__sass_branch_targets.sum",
      "smsp__sass_branch_targets_threads_divergent.sum", "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"};
  return names;
}

const std::vector<std::string>& stall_counters() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const char* state :
         {"barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle",
          "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected",
          "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait"}) {
      list.push_back(std::string(kStallPrefix).append(state).append(kStallSuffix));
    }
    return list;
  }();
  return names;
}

const std::vector<std::string>& full_counters() {
  static const std::vector<std::string> names =
      joined({default_counters(),
              stall_counters(),
              {"l1tex__t_sector_hit_rate.pct", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
               "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
               "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "gpc__cycles_elapsed.avg.per_second",
               "sm__throughput.avg.pct_of_peak_sustained_elapsed",
               "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}});
  return names;
}

std::string base_metric(std::string_view metric) {
  return std::string(metric.substr(0, metric.find('.')));
}

std::string stall_of_counter(std::string_view metric) {
  return between(metric, kStallPrefix, kStallSuffix);
}

std::string stall_of_sample(std::string_view reason) {
  const std::string stall = between(reason, kSamplePrefix, is_not_issued(reason) ? kNotIssued : "");
  return stall == "no_instructions" ? "no_instruction" : stall;  // the counter's word for it
}

bool is_not_issued(std::string_view reason) {
  return reason.ends_with(kNotIssued);
}

std::string metric_unit(std::string_view metric) {
  if (metric.ends_with(".pct") || metric.find(".pct_of_peak") != std::string_view::npos) {
    return "%";
  }
  if (metric.starts_with("gpu__time_duration")) {
    return "ns";
  }
  if (metric.ends_with(".ratio")) {
    return "ratio";
  }
  if (metric.ends_with("per_second")) {
    return "1/s";
  }
  const std::string base = base_metric(metric);
  return base.find("bytes") != std::string::npos && base.find("_per_") == std::string::npos ? "byte" : "";
}

bool is_percentage(std::string_view metric) {
  return metric_unit(metric) == "%";
}

std::string nearest_metric(std::string_view name, const std::vector<std::string>& names) {
  if (const std::string close = nearest(name, names); !close.empty()) {
    return close;
  }
  const std::set<std::string> wanted = words_of(name);
  std::string best;
  double best_score = 0.5;  // fewer than half of the words in common is no likeness
  for (const std::string& candidate : names) {
    const std::set<std::string> words = words_of(candidate);
    const auto common =
        std::count_if(words.begin(), words.end(), [&](const auto& one) { return wanted.contains(one); });
    const double score = 2.0 * static_cast<double>(common) / static_cast<double>(words.size() + wanted.size());
    if (score > best_score) {
      best_score = score;
      best = candidate;
    }
  }
  return best;
}

std::string explain_refused(std::string_view metric, const std::vector<std::string>& bases,
                            const std::vector<std::string>& rollups) {
  constexpr std::size_t kShown = 12;
  const std::string base = base_metric(metric);
  if (std::find(bases.begin(), bases.end(), base) != bases.end()) {
    std::vector<std::string> shown = rollups;  // the plain ones first
    std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    shown.resize(std::min(shown.size(), kShown));
    const bool none = base.size() == metric.size();
    return "'" + base + "' needs " +
           (none ? "a roll-up" : "another roll-up than '" + std::string(metric.substr(base.size())) + "'") +
           (shown.empty() ? "" : "; it has " + join(shown, " ") + (rollups.size() > kShown ? " ..." : ""));
  }
  if (base.starts_with("launch__") || base.starts_with("device__") || base.starts_with("derived__")) {
    return "'" + base + "' is no counter of the GPU; 'apo profile' computes occupancy, waves and registers itself";
  }
  const std::string close = nearest_metric(base, bases);
  return "this GPU has no counter '" + base + "'" + (close.empty() ? "" : "; did you mean '" + close + "'?");
}

}  // namespace apo
