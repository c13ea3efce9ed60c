// harness/cli/look/profile.cpp - `apo profile`: shows where the time of a variant goes and its distance to the roofs.
#include "harness/core/records/profile.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/look/profile_application.h"
#include "harness/cli/target_choice.h"
#include "harness/cli/terminal.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "harness/loop/research/research_inputs.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/kept_profile.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/measure.h"
#include "harness/profile/roofs/roofs.h"
#include "harness/research/diagnosis/rules.h"
#include "reports/numbers.h"

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

report::Table scaling_of(const Profile& profile, int cores) {
  const double alone = cores == 1 ? profile.time_ns : profile.metric("time_t1");
  report::Table table{{"threads", "one call", "against one thread"}, {}};
  for (int threads = 1; threads <= cores; ++threads) {
    const double ns = threads == cores ? profile.time_ns : profile.metric(fmt::format("time_t{}", threads));
    if (std::isfinite(ns)) {
      table.rows.push_back({threads, format_ns(ns), format_ratio(alone / ns)});
    }
  }
  return table;
}

using Facts = std::vector<std::vector<report::Line>>;

void add_fact(Facts& facts, const std::string& name, std::vector<std::string> parts) {
  std::erase(parts, "");
  if (!parts.empty()) {
    facts.push_back({name, join(parts, ", ")});
  }
}

// The share of the time that each unit would need for the compulsory work alone.
std::vector<std::string> busy_parts(const Profile& profile) {
  std::vector<std::string> parts;
  for (const auto& [metric, what] :
       {std::pair{"busy_bytes", "moving bytes"}, std::pair{"busy_flops", "arithmetic"},
        std::pair{"busy_special", "special functions"}, std::pair{"busy_serial", "the serial chain"}}) {
    if (const double share = profile.metric(metric); share > 0) {
      parts.push_back(std::string(what) + " " + report::percent_text(share));
    }
  }
  return parts;
}

// The count of each special function.
std::vector<std::string> special_parts(const Profile& profile) {
  std::vector<std::string> parts;
  for (const Metric& metric : profile.metrics) {
    if (metric.name.starts_with(kSpecialCount)) {
      parts.push_back(format_si(metric.value, "") + " " + metric.name.substr(kSpecialCount.size()));
    }
  }
  return parts;
}

// The work that the floor does not count.
std::string floor_note(const Profile& profile) {
  if (profile.metric("floor_flops") == 0 && profile.metric("floor_special") == 0) {
    return "this family counts the bytes that must move and no arithmetic";
  }
  return profile.floor_roof == "special functions"
             ? "every special function counts as a tanh: with cheaper ones the floor is lower"
             : "";
}

// The counters of memory, occupancy and issue beside their ideal values; nothing without counters.
void add_counters(const Profile& profile, Facts& facts) {
  const auto share = [&](const char* metric, const std::string& words) {
    const double value = profile.metric(metric);
    return std::isfinite(value) ? report::percent_text(value) + " " + words : "";
  };
  const double moved = profile.metric("bytes_moved");
  const double excess = profile.metric("bytes_over_compulsory");
  add_fact(
      facts, "DRAM",
      {std::isfinite(moved) ? format_bytes(moved) + " a call" : "",
       excess > 0 ? format_ratio(excess) + " the compulsory bytes" : "", share("dram_utilisation", "of its peak")});
  add_fact(facts, "L2", {share("l2_hit_rate", "hits (" + profile.conditions + ")")});
  const bool counted = std::isfinite(profile.metric("achieved_occupancy"));
  add_fact(facts, "warps",
           {share("achieved_occupancy", "of an SM's active"), counted ? share("occupancy", "could be") : "",
            share("issue_utilisation", "of the issue slots used")});
  std::vector<std::string> stalls;
  for (const auto& [stall, part] : top_stalls(profile)) {
    if (part >= 0.03 && stalls.size() < 5) {
      stalls.push_back(stall + " " + format_share(part));
    }
  }
  add_fact(facts, "stalls", stalls);
}

Facts facts_of(const Profile& profile) {
  constexpr double kNoisySpread = 0.05;
  const double spread = profile.metric("spread");
  const std::string noise = "noisy: calls of the same work differ by " + format_share(spread) + " (MAD sigma)";
  Facts facts;
  add_fact(facts, "time", {format_ns(profile.time_ns), spread >= kNoisySpread ? noise : ""});
  add_fact(facts, "floor",
           {fmt::format("{} by {}: {} of the time", format_ns(profile.floor_ns), profile.floor_roof,
                        report::percent_text(profile.floor_fraction)),
            floor_note(profile)});
  add_fact(facts, "of it", busy_parts(profile));
  add_fact(facts, "special", special_parts(profile));
  add_counters(profile, facts);
  add_fact(facts, "rung", {profile.rung});
  add_fact(facts, "missing", {profile.missing});
  return facts;
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

void write_profile(const Profile& profile, const std::vector<Bottleneck>& bottlenecks, const std::string& cache,
                   const Machine& machine, report::Writer& writer) {
  const bool host = machine.target == Target::host;
  writer.heading(1, fmt::format("{} on {}, {} caches, {} {}", profile.configuration.label(), profile.workload, cache,
                                machine.cores, host ? "threads" : "SMs"));
  writer.table({{}, facts_of(profile)});
  if (host) {
    writer.heading(2, "thread scaling");
    writer.table(scaling_of(profile, machine.cores));
  }
  write_launches(profile, writer);
  write_hot_lines(profile, writer);
  write_metrics(profile, writer);
  write_roofs(profile.roofs, writer);
  writer.heading(2, "bottlenecks");
  if (bottlenecks.empty()) {
    writer.paragraph("none of the rules found one");
  } else {
    write_bottlenecks(bottlenecks, writer);
  }
}

// `apo profile --roofs`: no variant, only what the device can reach.
int show_roofs(const ProfileOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  workspace.use(resolve_target(options.target, workspace));
  ConsoleObserver observer(globals);
  const std::vector<Roof> roofs = kept_or_measured_roofs(workspace, options.remeasure, observer);
  print_answer(globals, {{"machine", to_document(workspace.machine())}, {"roofs", to_documents(roofs)}},
               "roofs of " + paint(workspace.machine().model, "bold") + "\n" +
                   terminal_text([&](report::Writer& writer) { write_roofs(roofs, writer); }));
  return kDone;
}

// Of this machine; the journal keeps it.
Profile measured_profile(const ProfileOptions& options, Workspace& workspace, const Configuration& configuration,
                         CachePolicy cache, Observer& observer) {
  const Variant& variant = workspace.catalogue().get(configuration.variant);
  const Family& family = workspace.family(variant.family);
  const CounterChoice counters = chosen_counters(options, variant);
  workspace.use(variant.target, Workspace::AskedWorker::serves);
  const Workload& workload = profiled_workload(workspace, family, {configuration}, options.workload, observer);
  const Runtime runtime = workspace.runtime(family);
  check_supported(runtime, configuration, workload);
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
  Json document = to_document(profile);
  document["cache_policy"] = options.cache;
  document["threads"] = workspace.machine().cores;
  document["machine"] = to_document(workspace.machine());
  document["bottlenecks"] = to_documents(bottlenecks);
  print_answer(globals, document, terminal_text([&](report::Writer& writer) {
                 write_profile(profile, bottlenecks, options.cache, workspace.machine(), writer);
               }));
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
