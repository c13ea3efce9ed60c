// harness/cli/improve/space.cpp - `apo space`: every legal configuration of a variant, built, verified and timed once.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/loop/space/record_space.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kNsPerMs = 1e6;

struct SpaceOptions {
  std::string variant;
  std::string workload;
  std::string cache = "cold";
  std::string output;
  bool no_sanitizers = false;
};

// ".apo/spaces/copy/parallel.json", with the workload where one was named.
fs::path output_of(const SpaceOptions& options, const Variant& variant, const Paths& paths) {
  if (!options.output.empty()) {
    return options.output;
  }
  const std::string name = variant.id() + (options.workload.empty() ? "" : "." + options.workload) + ".json";
  const fs::path path = paths.folder / "spaces" / name;
  fs::create_directories(path.parent_path());
  return path;
}

// 0 where the file lacks it.
double measured(const T4Result& result, const std::string& name) {
  const T4Measurement* found = find_measurement(result, name);
  return found == nullptr ? 0 : found->value;
}

// The one with the highest ratio to the reference among those whose interval lies above 1; nullptr where none does.
const T4Result* fastest_of(const T4File& file) {
  const T4Result* fastest = nullptr;
  for (const T4Result& result : file.results) {
    if (is_valid(result) && measured(result, "speedup_lower") > 1 &&
        (fastest == nullptr || measured(result, "speedup") > measured(*fastest, "speedup"))) {
      fastest = &result;
    }
  }
  return fastest;
}

std::map<std::string, int> count_invalid(const T4File& file) {
  std::map<std::string, int> counts;
  for (const T4Result& result : file.results) {
    if (!is_valid(result)) {
      ++counts[std::string(to_string(result.invalidity))];
    }
  }
  return counts;
}

std::string text_of(const RecordingSummary& summary, const fs::path& output) {
  const T4File& file = summary.file;
  std::string text =
      fmt::format("{} on {}: {} of {} legal configurations are in {}, {} of them measured now\n", file.origin->variant,
                  file.origin->workload, file.results.size(), summary.legal, output.string(), summary.measured);
  for (const auto& [why, count] : count_invalid(file)) {
    text += fmt::format("invalid: {} ({})\n", count, why);
  }
  for (const std::string& one : summary.unmeasured) {
    text += "not measured: " + one + "\n";
  }
  if (const T4Result* fastest = fastest_of(file)) {
    text += fmt::format("fastest: {}, {} a call, {} over {}\n", to_text(fastest->configuration),
                        format_ns(kNsPerMs * measured(*fastest, "time")),
                        format_interval(measured(*fastest, "speedup"), measured(*fastest, "speedup_lower"),
                                        measured(*fastest, "speedup_upper"))
                            .all(),
                        file.origin->reference);
  } else if (!file.origin->reference.empty()) {
    text += "fastest: none is shown to be faster than " + file.origin->reference + "\n";
  }
  return text + "'apo research --replay " + output.string() + "' tries the search strategies on it\n";
}

Json document_of(const RecordingSummary& summary, const fs::path& output) {
  const T4File& file = summary.file;
  Json document = {{"document", "space"},
                   {"output", output.string()},
                   {"variant", file.origin->variant},
                   {"workload", file.origin->workload},
                   {"legal", summary.legal},
                   {"recorded", file.results.size()},
                   {"measured", summary.measured},
                   {"unmeasured", summary.unmeasured},
                   {"invalid", count_invalid(file)},
                   {"reference", file.origin->reference},
                   {"fastest", nullptr}};
  if (const T4Result* fastest = fastest_of(file)) {
    document["fastest"] = {{"configuration", to_text(fastest->configuration)},
                           {"ms", measured(*fastest, "time")},
                           {"speedup", measured(*fastest, "speedup")},
                           {"lower", measured(*fastest, "speedup_lower")},
                           {"upper", measured(*fastest, "speedup_upper")}};
  }
  return document;
}

void check_has_no_settings(const std::string& name) {
  if (const std::size_t open = name.find('['); open != std::string::npos) {
    throw UserError("'" + name + "' is one configuration, and a space is all of a variant's",
                    "'apo space " + name.substr(0, open) + "' times them all, and 'apo bench' one");
  }
}

int record(const SpaceOptions& options, const Globals& globals) {
  check_has_no_settings(options.variant);
  Workspace workspace(make_paths(globals.journal));
  const Variant& variant = workspace.catalogue().get(options.variant);
  const fs::path output = output_of(options, variant, workspace.paths());
  ConsoleObserver observer(globals);
  const InterruptNote note(output.string() + " has what was measured", "go on with", globals.words);
  const RecordingSummary summary = record_space(workspace,
                                                {.variant = variant.id(),
                                                 .workload = options.workload,
                                                 .cache = checked_cache_policy(options.cache),
                                                 .sanitize = !options.no_sanitizers,
                                                 .output = output},
                                                observer);
  if (globals.json) {
    print_json(document_of(summary, output));
  } else {
    print(text_of(summary, output));
  }
  return summary.unmeasured.empty() ? kDone : kEnvironmentTrouble;
}

}  // namespace

Action define_space(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<SpaceOptions>();
  app.add_option("variant", options->variant, "FAMILY/NAME of a variant with tunables or toggles")->required();
  app.add_option("--workload", options->workload,
                 "the workload (default: the family's first for the variant's target)");
  app.add_option("--output", options->output,
                 "the T4 file; what it holds already is not measured again (default: a file in .apo/spaces)");
  app.add_option("--cache", options->cache, "cold (flush the caches before every call) or warm (default: cold)");
  app.add_flag("--no-sanitizers", options->no_sanitizers, "skip ASan and UBSan, on target cuda compute-sanitizer");
  app.footer(
      "Each configuration has the gates and rounds of 'apo evaluate --judge quick', against one reference, the first\n"
      "valid one, but its outputs are checked on the workload and one small shape, and on a GPU the rounds are short\n"
      "and share a process. The file is written after each; the same command goes on with it. It decides nothing:\n"
      "use 'apo compare' for a judgement.");
  return [options, &globals] { return record(*options, globals); };
}

}  // namespace apo
