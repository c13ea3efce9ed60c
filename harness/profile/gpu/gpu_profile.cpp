// harness/profile/gpu/gpu_profile.cpp - sums and weighted means over launches, shares of stalls, hottest lines.
#include "harness/profile/gpu/gpu_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/core/text.h"
#include "harness/profile/summary.h"
#include "harness/worker/cupti/metric_names.h"

namespace apo {
namespace {

constexpr const char* kDuration = "gpu__time_duration.sum";
constexpr const char* kStall = "stall_";

// NaN where nothing was counted.
double of_call(const CounterReport& report, std::size_t metric, const std::vector<double>& weights, int calls) {
  const bool adds_up = report.metrics[metric].ends_with(".sum");
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < report.launches.size(); ++i) {
    const double value = report.launches[i].values[metric];
    if (std::isfinite(value)) {
      sum += adds_up ? value : weights[i] * value;
      weight += weights[i];
    }
  }
  if (weight <= 0) {
    return std::nan("");
  }
  return adds_up ? sum / calls : sum / weight;
}

std::vector<double> weights_of(const CounterReport& report) {
  const auto found = std::find(report.metrics.begin(), report.metrics.end(), kDuration);
  std::vector<double> weights(report.launches.size(), 1.0);
  if (found != report.metrics.end()) {
    const auto at = static_cast<std::size_t>(found - report.metrics.begin());
    std::transform(report.launches.begin(), report.launches.end(), weights.begin(),
                   [&](const LaunchCounters& launch) { return launch.values[at]; });
  }
  const bool usable = std::all_of(weights.begin(), weights.end(), [](double one) { return one > 0; });
  return usable ? weights : std::vector<double>(report.launches.size(), 1.0);
}

// Sums counters; missing ones count 0. NaN if all are missing.
double sum_of(const Profile& profile, const std::vector<std::string>& names) {
  double sum = std::nan("");
  for (const std::string& name : names) {
    if (const double value = profile.metric(name); std::isfinite(value)) {
      sum = std::isfinite(sum) ? sum + value : value;
    }
  }
  return sum;
}

void add_memory(MetricList& derived, const Profile& p, const Work& work) {
  const double moved = p.metric("dram__bytes_read.sum") + p.metric("dram__bytes_write.sum");
  derived.add("bytes_moved", moved, "byte");
  derived.add("bytes_over_compulsory", work.bytes > 0 ? moved / work.bytes : std::nan(""), "ratio");
  derived.add("dram_utilisation", p.metric("dram__throughput.avg.pct_of_peak_sustained_elapsed") / 100, "ratio");
  derived.add("l2_hit_rate", p.metric("lts__t_sector_hit_rate.pct") / 100, "ratio");
  derived.add("l2_utilisation", p.metric("lts__t_sectors.avg.pct_of_peak_sustained_elapsed") / 100, "ratio");
  const std::string efficiency = "smsp__sass_average_data_bytes_per_sector_mem_global_op_";
  const std::string sectors = "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_";
  const std::string instructions = "sm__sass_inst_executed_op_global_";
  derived.add("load_efficiency", p.metric(efficiency + "ld.pct") / 100, "ratio");
  derived.add("store_efficiency", p.metric(efficiency + "st.pct") / 100, "ratio");
  derived.add("sectors_per_load", p.metric(sectors + "ld.sum") / p.metric(instructions + "ld.sum"), "sectors");
  derived.add("sectors_per_store", p.metric(sectors + "st.sum") / p.metric(instructions + "st.sum"), "sectors");
  // This counter also has what goes by generic addresses, wherever these point: 4 GiB of a kernel with no local access.
  const bool no_local_access = p.metric("sm__sass_inst_executed_op_local.sum") == 0;
  derived.add("local_bytes", no_local_access ? 0 : p.metric("sm__sass_data_bytes_mem_local.sum"), "byte");
  derived.add("atomics",
              sum_of(p, {"sm__sass_inst_executed_op_global_atom.sum", "sm__sass_inst_executed_op_global_red.sum",
                         "sm__sass_inst_executed_op_shared_atom.sum"}),
              "instructions");
  const double conflicts = sum_of(p, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"});
  // From different passes, so that the share can come out above 1.
  derived.add("bank_conflict_share",
              std::min(1.0, conflicts / p.metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")), "ratio");
}

// Counts the executed instructions by kind.
void add_kinds(MetricList& derived, const Profile& p) {
  const double all = p.metric("smsp__thread_inst_executed.sum");
  const auto of_kind = [&](const std::string& kind) {
    return p.metric("smsp__sass_thread_inst_executed_op_" + kind + "_pred_on.sum");
  };
  derived.add("integer_share", of_kind("integer") / all, "ratio");
  derived.add("conversion_share", of_kind("conversion") / all, "ratio");
  derived.add("fp64_share", of_kind("fp64") / all, "ratio");
  derived.add("shuffled_lanes", of_kind("inter_thread_communication"), "lanes");
  derived.add("divergent_share",
              p.metric("smsp__sass_branch_targets_threads_divergent.sum") / p.metric("smsp__sass_branch_targets.sum"),
              "ratio");
  const double loads = p.metric("smsp__inst_executed_op_ldc.sum");
  derived.add("constant_loads", loads, "instructions");
  derived.add("requests_per_constant_load", p.metric("idc__requests.sum") / loads, "requests");
}

// The shares of the time in which SMs have no warp, and in which warps wait at a barrier.
void add_waiting(MetricList& derived, const Profile& p) {
  // Both cycles of one pass: passes differ in what the L2 holds.
  derived.add("sm_active", p.metric("sm__cycles_active.avg.pct_of_peak_sustained_elapsed") / 100, "ratio");
  // The unit that executes barriers loads constants besides, some of them in two instructions.
  const double counted = p.metric("barriers");
  const double barriers = std::isfinite(counted)
                              ? counted
                              : p.metric("sm__inst_executed_pipe_adu.sum") - p.metric("smsp__inst_executed_op_ldc.sum");
  const double warp_cycles = p.metric("sm__warps_active.avg.per_cycle_active") * p.metric("sm__cycles_active.sum");
  if (barriers > 0) {
    const double cycles = p.metric("stall_barrier") * warp_cycles / barriers;
    derived.add("barrier_wait", 1e9 * cycles / p.metric("sm__cycles_elapsed.avg.per_second"), "ns");
  }
}

}  // namespace

std::vector<Metric> counter_metrics(const CounterReport& report, int calls) {
  const std::vector<double> weights = weights_of(report);
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    const double value = of_call(report, i, weights, std::max(1, calls));
    if (std::isfinite(value)) {
      metrics.push_back(
          {.name = report.metrics[i], .value = value, .unit = metric_unit(report.metrics[i]), .samples = calls});
    }
  }
  return metrics;
}

std::vector<Metric> derived_metrics(const Profile& p, const Work& work) {
  std::vector<Metric> metrics;
  MetricList derived(metrics);
  add_memory(derived, p, work);
  derived.add("achieved_occupancy", p.metric("sm__warps_active.avg.pct_of_peak_sustained_active") / 100, "ratio");
  derived.add("issue_utilisation", p.metric("smsp__issue_active.avg.pct_of_peak_sustained_active") / 100, "ratio");
  derived.add("threads_per_instruction", p.metric("smsp__thread_inst_executed_per_inst_executed.ratio"), "threads");
  const std::string flops = "smsp__sass_thread_inst_executed_op_";
  derived.add("executed_flops",
              2 * p.metric(flops + "ffma_pred_on.sum") + p.metric(flops + "fadd_pred_on.sum") +
                  p.metric(flops + "fmul_pred_on.sum"),
              "flop");
  const std::string of_peak = ".avg.pct_of_peak_sustained_active";
  derived.add("pipe_special", p.metric("sm__inst_executed_pipe_xu" + of_peak) / 100, "ratio");
  derived.add("pipe_fp32", p.metric("sm__pipe_fma_cycles_active" + of_peak) / 100, "ratio");
  derived.add("pipe_tensor", p.metric("sm__pipe_tensor_cycles_active" + of_peak) / 100, "ratio");
  derived.add("pipe_fp64", p.metric("sm__pipe_fp64_cycles_active" + of_peak) / 100, "ratio");
  derived.add("pipe_alu", p.metric("sm__pipe_alu_cycles_active" + of_peak) / 100, "ratio");
  // Divided by all cycles: the active cycles of these units are those with work of their own.
  const std::string of_time = ".avg.pct_of_peak_sustained_elapsed";
  derived.add("pipe_shared", p.metric("l1tex__data_pipe_lsu_wavefronts_mem_shared" + of_time) / 100, "ratio");
  derived.add("pipe_lsu", p.metric("l1tex__data_pipe_lsu_wavefronts" + of_time) / 100, "ratio");
  derived.add("pipe_constant", p.metric("idc__request_cycles_active" + of_time) / 100, "ratio");
  add_kinds(derived, p);
  add_waiting(derived, p);
  return metrics;
}

std::vector<Metric> stall_metrics(const std::vector<StallSample>& samples) {
  std::map<std::string, std::int64_t> sums;
  std::int64_t total = 0;
  for (const StallSample& one : samples) {
    sums[one.stall] += one.samples;
    total += one.samples;
  }
  std::vector<Metric> metrics;
  for (const auto& [stall, sum] : sums) {
    metrics.push_back({.name = kStall + stall,
                       .value = static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(total, 1)),
                       .unit = "ratio",
                       .samples = static_cast<int>(std::min<std::int64_t>(total, 1'000'000'000))});
  }
  return metrics;
}

// Each counter is the mean number of warps in that state for each issued instruction; together they are all warps.
std::vector<Metric> stall_metrics(const std::vector<Metric>& counters) {
  double all = 0;
  for (const Metric& counter : counters) {
    all += stall_of_counter(counter.name).empty() ? 0 : counter.value;
  }
  std::vector<Metric> metrics;
  for (const Metric& counter : counters) {
    if (const std::string stall = stall_of_counter(counter.name); !stall.empty() && all > 0) {
      metrics.push_back({.name = kStall + stall, .value = counter.value / all, .unit = "ratio", .samples = 1});
    }
  }
  return metrics;
}

std::vector<Metric> instruction_metrics(const InstructionReport& report, const Work& work) {
  struct OfKernel {
    double warps = 0;  // each executes the first instruction once
    double barriers = 0;
  };
  std::map<std::string, OfKernel> kernels;
  for (const InstructionCount& one : report.instructions) {
    OfKernel& kernel = kernels[one.kernel];
    const auto executed = static_cast<double>(one.values[kWarps]);
    kernel.warps += one.pc_offset == 0 ? executed : 0;
    kernel.barriers += one.opcode == "BAR" ? executed : 0;
  }
  std::vector<Metric> metrics;
  MetricList derived(metrics);
  double all = 0;
  for (const auto& [name, kernel] : kernels) {
    all += kernel.barriers;
  }
  double of_warp = 0;
  for (const std::string& name : report.kernels) {  // one that is launched twice counts twice
    const OfKernel& kernel = kernels[name];
    of_warp += kernel.barriers / kernel.warps;
  }
  if (!report.instructions.empty()) {
    derived.add("barriers", all, "instructions");
    derived.add("barriers_per_warp", of_warp, "barriers");
    derived.add("barriers_per_step", work.serial_steps > 0 ? of_warp / work.serial_steps : std::nan(""), "barriers");
  }
  return metrics;
}

std::vector<LineCount> line_counts(const InstructionReport& report) {
  constexpr std::int64_t kLanes = 32;
  std::map<std::tuple<std::string, std::string, int>, std::int64_t> sums;
  for (const InstructionCount& one : report.instructions) {
    const auto add = [&](const char* what, std::int64_t count) {
      if (count > 0 && one.line > 0) {
        sums[{what, one.file, one.line}] += count;
      }
    };
    const bool atomic = one.opcode.starts_with("ATOM") || one.opcode == "RED";
    add("excess_sectors", one.values[kGlobalSectors] - one.values[kGlobalIdeal]);
    add("local_sectors", one.values[kLocalSectors]);
    add("excess_wavefronts", one.values[kSharedWavefronts] - one.values[kSharedIdeal]);
    add("divergent_branches", one.values[kDivergent]);
    add("idle_lanes", kLanes * one.values[kWarps] - one.values[kThreads]);
    add("atomics", atomic ? one.values[kWarps] : 0);
    add("barriers", one.opcode == "BAR" ? one.values[kWarps] : 0);
  }
  std::vector<LineCount> counts;
  for (const auto& [place, count] : sums) {
    const auto& [what, file, line] = place;
    counts.push_back({.what = what, .file = file, .line = line, .count = count});
  }
  std::stable_sort(counts.begin(), counts.end(), [](const LineCount& a, const LineCount& b) {
    return a.what != b.what ? a.what < b.what : a.count > b.count;
  });
  return counts;
}

std::vector<ProfiledLaunch> profiled_launches(const CounterReport& report, const std::vector<StallSample>& samples) {
  std::map<std::string, std::map<std::string, std::int64_t>> stalls;  // by kernel
  for (const StallSample& one : samples) {
    stalls[one.kernel][one.stall] += one.samples;
  }
  const auto column = [&](const std::string& metric) {
    const auto found = std::ranges::find(report.metrics, metric);
    return static_cast<std::size_t>(found - report.metrics.begin());
  };
  const std::size_t time = column(kDuration);
  const std::size_t read = column("dram__bytes_read.sum");
  const std::size_t written = column("dram__bytes_write.sum");
  const std::size_t occupancy = column("sm__warps_active.avg.pct_of_peak_sustained_active");
  const std::size_t issue = column("smsp__issue_active.avg.pct_of_peak_sustained_active");
  std::vector<ProfiledLaunch> launches;
  for (const LaunchCounters& one : report.launches) {
    const auto value = [&](std::size_t metric) {
      return metric < one.values.size() ? one.values[metric] : std::nan("");
    };
    ProfiledLaunch launch{.kernel = demangled(one.kernel),
                          .time_ns = value(time),
                          .bytes_moved = value(read) + value(written),
                          .occupancy = value(occupancy) / 100,
                          .issue = value(issue) / 100,
                          .stall = {},
                          .stall_share = std::nan("")};
    std::int64_t all = 0;
    std::int64_t most = 0;
    for (const auto& [stall, count] : stalls[one.kernel]) {
      all += count;
      if (stall != "selected" && count > most) {
        most = count;
        launch.stall = stall;
      }
    }
    launch.stall_share = all > 0 ? static_cast<double>(most) / static_cast<double>(all) : launch.stall_share;
    launches.push_back(std::move(launch));
  }
  return launches;
}

void set_samples(Profile& profile, std::vector<StallSample> samples, std::size_t most,
                 const std::vector<SourceFile>& sources) {
  std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
  samples.resize(std::min(samples.size(), most));
  std::map<std::string, std::vector<std::string>> texts;
  for (const SourceFile& file : sources) {
    texts[file.name] = split(file.text, '\n');
  }
  std::set<std::pair<std::string, int>> seen;
  for (const StallSample& one : samples) {
    const auto text = texts.find(one.file);  // the others are headers of the toolkit
    const bool own = text != texts.end() && one.line > 0 && one.line <= static_cast<int>(text->second.size());
    if (own && seen.emplace(one.file, one.line).second) {
      profile.lines.push_back(
          {.file = one.file, .line = one.line, .text = trim(text->second[static_cast<std::size_t>(one.line - 1)])});
    }
  }
  profile.stalls = std::move(samples);
}

}  // namespace apo
