// harness/cli/look/profile.cpp - `apo profile`: shows where the time of a variant goes and its distance to the roofs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/look/profile_application.h"
#include "harness/cli/target_choice.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/records/stalls.h"
#include "harness/core/text.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/kept_profile.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/measure.h"
#include "harness/profile/roofs/roofs.h"
#include "harness/research/diagnosis/rules.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct ProfileOptions {
  std::string variant;
  std::string workload;
  std::string cache = "cold";
  std::string target = "auto";
  bool roofs_only = false;
  bool remeasure = false;
  ApplicationOptions application;
  bool full = false;
  bool no_journal = false;
  bool recorded = false;
  std::string metrics;  // separated by commas
};

std::string quantity(double value, const std::string& unit) {
  if (unit == "ns") {
    return format_ns(value);
  }
  if (unit == "s") {
    return format_ns(1e9 * value);
  }
  if (unit == "byte") {
    return format_bytes(value);
  }
  const bool rate = unit.find("/s") != std::string::npos;
  return rate ? format_si(value, unit) : format_g(value) + (unit.empty() ? "" : " " + unit);
}

std::string interval(const std::optional<double>& lower, const std::optional<double>& upper, const std::string& unit) {
  return lower && upper ? "[" + quantity(*lower, unit) + ", " + quantity(*upper, unit) + "]" : "";
}

std::string metrics_text(const Profile& profile) {
  std::vector<std::vector<std::string>> rows = {{"  metric", "value", "95 % interval", "n"}};
  const std::set<std::string> of_counted_work = {"gflops",     "special_per_s", "intensity",    "floor_flops",
                                                 "busy_flops", "floor_special", "busy_special", "gb_per_s"};
  for (const Metric& metric : profile.metrics) {
    if (metric.value == 0 && of_counted_work.contains(metric.name)) {
      continue;
    }
    rows.push_back({"  " + metric.name, quantity(metric.value, metric.unit),
                    interval(metric.lower, metric.upper, metric.unit),
                    metric.samples > 0 ? std::to_string(metric.samples) : ""});
  }
  return format_table(rows);
}

std::string roofs_text(const std::vector<Roof>& roofs) {
  std::vector<std::vector<std::string>> rows = {{"  roof", "value", "95 % interval", "n", "how"}};
  for (const Roof& roof : roofs) {
    rows.push_back({"  " + roof.name, quantity(roof.value, roof.unit), interval(roof.lower, roof.upper, roof.unit),
                    std::to_string(roof.samples), roof.note});
  }
  return format_table(rows);
}

std::string scaling_text(const Profile& profile, int cores) {
  const double alone = cores == 1 ? profile.time_ns : profile.metric("time_t1");
  std::vector<std::vector<std::string>> rows = {{"  threads", "one call", "against one thread"}};
  for (int threads = 1; threads <= cores; ++threads) {
    const double ns = threads == cores ? profile.time_ns : profile.metric(fmt::format("time_t{}", threads));
    if (std::isfinite(ns)) {
      rows.push_back({fmt::format("  {}", threads), format_ns(ns), format_ratio(alone / ns)});
    }
  }
  return format_table(rows);
}

std::string bottlenecks_text(const std::vector<Bottleneck>& bottlenecks) {
  std::string text;
  for (const Bottleneck& bottleneck : bottlenecks) {
    text += fmt::format("  {}, worth {}: {}{}\n", paint(bottleneck.name, "bold"), worth_text(bottleneck),
                        bottleneck.evidence,
                        bottleneck.line > 0 ? fmt::format("; mostly at {}:{}", bottleneck.file, bottleneck.line) : "");
  }
  return text.empty() ? "  none of the rules found one\n" : text;
}

// Prints the share of the time that each unit would need for the compulsory work alone.
std::string busy_text(const Profile& profile) {
  std::vector<std::string> parts;
  for (const auto& [metric, what] :
       {std::pair{"busy_bytes", "moving bytes"}, std::pair{"busy_flops", "arithmetic"},
        std::pair{"busy_special", "special functions"}, std::pair{"busy_serial", "the serial chain"}}) {
    if (const double share = profile.metric(metric); share > 0) {
      parts.push_back(std::string(what) + " " + format_g(100 * share, 3) + " %");
    }
  }
  return parts.empty() ? "" : "  of it   " + join(parts, ", ") + "\n";
}

// Prints the count of each special function.
std::string special_text(const Profile& profile) {
  std::vector<std::string> parts;
  for (const Metric& metric : profile.metrics) {
    if (metric.name.starts_with(kSpecialCount)) {
      parts.push_back(format_si(metric.value, "") + " " + metric.name.substr(kSpecialCount.size()));
    }
  }
  return parts.empty() ? "" : "  special " + join(parts, ", ") + "\n";
}

// Names the work that the floor does not count.
std::string floor_note(const Profile& profile) {
  if (profile.metric("floor_flops") == 0 && profile.metric("floor_special") == 0) {
    return "          this family counts the bytes that must move and no arithmetic\n";
  }
  return profile.floor_roof == "special functions"
             ? "          every special function counts as a tanh: with cheaper ones the floor is lower\n"
             : "";
}

// Prints the counters of memory, occupancy and issue beside their ideal values; empty without counters.
std::string counters_text(const Profile& profile) {
  std::string text;
  const auto line = [&](const char* name, std::vector<std::string> parts) {
    std::erase(parts, "");
    text += parts.empty() ? "" : std::string("  ") + name + join(parts, ", ") + "\n";
  };
  const auto share = [&](const char* metric, const std::string& words) {
    const double value = profile.metric(metric);
    return std::isfinite(value) ? format_g(100 * value, 3) + " % " + words : "";
  };
  const double moved = profile.metric("bytes_moved");
  const double excess = profile.metric("bytes_over_compulsory");
  line("DRAM    ",
       {std::isfinite(moved) ? format_bytes(moved) + " a call" : "",
        excess > 0 ? format_ratio(excess) + " the compulsory bytes" : "", share("dram_utilisation", "of its peak")});
  line("L2      ", {share("l2_hit_rate", "hits (" + profile.conditions + ")")});
  const bool counted = std::isfinite(profile.metric("achieved_occupancy"));
  line("warps   ", {share("achieved_occupancy", "of an SM's active"), counted ? share("occupancy", "could be") : "",
                    share("issue_utilisation", "of the issue slots used")});
  std::vector<std::string> stalls;
  for (const auto& [stall, part] : top_stalls(profile)) {
    if (part >= 0.03 && stalls.size() < 5) {
      stalls.push_back(stall + " " + format_share(part));
    }
  }
  line("stalls  ", stalls);
  return text;
}

std::string hot_lines_text(const Profile& profile) {
  std::vector<std::vector<std::string>> rows = {{"  line", "samples", "share", "mostly", "source"}};
  for (const HotLine& line : hot_lines(profile, 10)) {
    rows.push_back({fmt::format("  {}:{}", line.file, line.line), std::to_string(line.samples),
                    format_g(100 * line.share, 3) + " %", line.stall + " " + format_g(100 * line.stall_share, 2) + " %",
                    line.text + (line.inlined.empty() ? "" : "  <- " + line.inlined)});
  }
  return rows.size() == 1 ? "" : "\nhottest lines\n" + format_table(rows);
}

// The metrics that --metrics names; throws UserError where they make no sense.
CounterChoice chosen_counters(const ProfileOptions& options, const Variant& variant) {
  CounterChoice choice{.metrics = {}, .full = options.full};
  for (const std::string& name : split(options.metrics, ',')) {
    if (!trim(name).empty()) {
      choice.metrics.push_back(trim(name));
    }
  }
  if (variant.target == Target::host && (options.full || !options.metrics.empty())) {
    throw UserError(std::string(options.full ? "--full" : "--metrics") + " selects GPU counters, and " + variant.id() +
                        " is for target host",
                    "drop it: host counters are always read where the system allows it");
  }
  if (choice.full && !choice.metrics.empty()) {
    throw UserError("--full and --metrics were both given", "choose one");
  }
  return choice;
}

void print_profile(const Profile& profile, const std::vector<Bottleneck>& bottlenecks, const std::string& cache,
                   const Machine& machine) {
  const bool host = machine.target == Target::host;
  std::string text = fmt::format("{} on {}, {} caches, {} {}\n", paint(profile.configuration.label(), "bold"),
                                 profile.workload, cache, machine.cores, host ? "threads" : "SMs");
  constexpr double kNoisySpread = 0.05;
  const double spread = profile.metric("spread");
  text += "  time    " + format_ns(profile.time_ns) +
          (spread >= kNoisySpread ? "; noisy: calls of the same work differ by " + format_share(spread) + " (MAD sigma)"
                                  : "") +
          "\n";
  text += "  floor   " + format_ns(profile.floor_ns) + " by " + profile.floor_roof + ": " +
          format_g(100 * profile.floor_fraction, 3) + " % of the time\n";
  text += busy_text(profile) + special_text(profile) + floor_note(profile);
  text += counters_text(profile);
  text += "  rung    " + profile.rung + "\n";
  text += profile.missing.empty() ? "" : "  missing " + profile.missing + "\n";
  text += host ? "\nthread scaling\n" + scaling_text(profile, machine.cores) : "";
  text += hot_lines_text(profile);
  text += "\nmetrics\n" + metrics_text(profile) + "\nroofs\n" + roofs_text(profile.roofs) + "\nbottlenecks\n" +
          bottlenecks_text(bottlenecks);
  print(text);
}

// `apo profile --roofs`: no variant, only what the device can reach.
int show_roofs(const ProfileOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  workspace.use(resolve_target(options.target, workspace));
  ConsoleObserver observer(globals);
  const std::vector<Roof> roofs = kept_or_measured_roofs(workspace, options.remeasure, observer);
  if (globals.json) {
    print_json({{"machine", to_document(workspace.machine())}, {"roofs", to_documents(roofs)}});
  } else {
    print("roofs of " + paint(workspace.machine().model, "bold") + "\n" + roofs_text(roofs));
  }
  return kDone;
}

// Of this machine; the journal keeps it.
Profile measured_profile(const ProfileOptions& options, Workspace& workspace, const Configuration& configuration,
                         CachePolicy cache, Observer& observer) {
  const Variant& variant = workspace.catalogue().get(configuration.variant);
  const Family& family = workspace.family(variant.family);
  const CounterChoice counters = chosen_counters(options, variant);
  workspace.use(variant.target, Workspace::AskedWorker::measures);
  const Workload& workload = profiled_workload(workspace, family, {configuration}, options.workload, observer);
  const Runtime runtime = workspace.runtime(family);
  if (const std::string why = runtime.unsupported(configuration, workload.axes); !why.empty()) {
    throw UserError(configuration.label() + " does not support " + workload.name + ": " + why,
                    "choose another one with --workload; 'apo list " + family.name + "' shows them");
  }
  Profile measured =
      measure_profile(runtime, configuration, workload, workspace.machine(),
                      kept_or_measured_roofs(workspace, options.remeasure, observer), cache, observer, counters);
  if (!options.no_journal) {
    keep_profile(workspace, measured, observer);
  }
  return measured;
}

int profile_variant(const ProfileOptions& options, CachePolicy cache, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  if (options.recorded) {
    use_recorded_texts(workspace);
  }
  const Configuration configuration = workspace.catalogue().configuration(options.variant);
  const Family& family = workspace.family(workspace.catalogue().get(configuration.variant).family);
  ConsoleObserver observer(globals);
  const Profile profile = options.recorded
                              ? recorded_profiles(workspace, {configuration}, options.workload, cache, observer).front()
                              : measured_profile(options, workspace, configuration, cache, observer);
  const std::vector<Bottleneck> bottlenecks = diagnose(
      diagnosis_of(workspace, workspace.runtime(family), workspace.workload(family, profile.workload), profile));
  if (globals.json) {
    Json document = to_document(profile);
    document["cache_policy"] = options.cache;
    document["threads"] = workspace.machine().cores;
    document["machine"] = to_document(workspace.machine());
    document["bottlenecks"] = to_documents(bottlenecks);
    print_json(document);
  } else {
    print_profile(profile, bottlenecks, options.cache, workspace.machine());
  }
  return kDone;
}

int profile(const ProfileOptions& options, const Globals& globals) {
  if (globals.command) {
    if (!options.variant.empty() || options.roofs_only) {
      throw UserError("both a variant (or --roofs) and a command after '--' were given",
                      "profile one of the two: 'apo profile VARIANT' or 'apo profile -- COMMAND'");
    }
    return profile_application(*globals.command, options.application, globals);
  }
  if (!options.application.output.empty() || !options.application.categories.empty()) {
    throw UserError(
        "--output and --categories need a command after '--'",
        "'apo profile --output FILE -- COMMAND' profiles an application; for a variant, redirect the output of --json");
  }
  const CachePolicy cache = checked_cache_policy(options.cache);
  static_cast<void>(asked_target(options.target));
  if (options.roofs_only) {
    return show_roofs(options, globals);
  }
  if (options.variant.empty()) {
    throw UserError("no variant was given", "'apo list' shows the variants; --roofs needs none");
  }
  return profile_variant(options, cache, globals);
}

}  // namespace

Action define_profile(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ProfileOptions>();
  app.add_option("variant", options->variant, "FAMILY/NAME or FAMILY/NAME[TUNABLE=VALUE,...]");
  app.add_option(
      "--workload", options->workload,
      "workload (default: that of the variant's newest judgement here, else the family's first for the target)");
  app.add_option("--cache", options->cache, "cold (flush the caches before every call) or warm (default: cold)");
  app.add_option("--metrics", options->metrics,
                 "GPU counters to read instead of the default set, for example dram__bytes_read.sum,...");
  app.add_flag("--full", options->full, "read every useful GPU counter, in about 20 passes");
  app.add_flag("--no-journal", options->no_journal, "do not keep the profile in the journal");
  app.add_flag("--recorded", options->recorded,
               "show the newest profile in the journal, of whatever machine; measure nothing");
  app.add_flag("--roofs", options->roofs_only, "show the measured roofs of the device; takes no variant");
  app.add_option("--target", options->target,
                 "with --roofs: host, cuda or auto, a GPU when one is usable (default: auto)");
  app.add_flag("--remeasure", options->remeasure, "measure the roofs again, even if the journal has them");
  add_application_options(app, options->application);
  app.footer(
      "apo profile -- COMMAND ARGS...\n  profiles any CUDA program and shows where its GPU time goes; with --json the"
      " program's output goes to stderr");
  return [options, &globals] { return profile(*options, globals); };
}

}  // namespace apo
