// harness/applications/inside_step.cpp - makes a family of the step, and of each arm a variant of it; the judge does
// the rest.
#include "harness/applications/inside_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>
#include <vector>

#include "harness/applications/record_folder.h"
#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/json/records_json.h"
#include "harness/core/recording/step.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/shared_object.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/runtime/runtime.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

std::string plain_name(const std::string& text) {
  std::string name;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return name;
}

ProgramCall step_in(const std::string& file) {
  auto step = decode_program_call(read_file(file));
  if (!step || !step->refusal.empty()) {
    throw UserError("'" + file + "' is no recorded step, or a part of one",
                    "record it with 'apo record --range NAME --to FILE.step -- COMMAND'");
  }
  return *std::move(step);
}

// What both arms are put in place of.
struct Site {
  const Family& family;
  Axes axes;
  RecordedKernel kernel;
  std::string at;
  std::vector<std::int64_t> bytes;  // of the family's tensors, as a call gets them
};

Site site_in(const Catalogue& catalogue, const Family& family, const Workload& workload, const RecordedCall& step,
             const std::string& at) {
  Site site{.family = family,
            .axes = workload.axes,
            .kernel = recorded_kernel(catalogue, family, step),
            .at = at,
            .bytes = {}};
  site.at = at.empty() ? site.kernel.name : at;
  for (const TensorSpec& tensor : family.tensors) {
    if (is_argument(tensor)) {
      site.bytes.push_back(element_count(tensor, site.axes) * dtype_bytes(tensor.dtype));
    }
  }
  return site;
}

RecordedCall call_of_arm(const Runtime& runtime, const Configuration& arm, const Site& site) {
  const Build build = runtime.build(arm, site.axes, false);
  if (build.outcome != Outcome::valid) {
    throw UserError(arm.label() + " does not build for the step: " + build.evidence);
  }
  const std::string object = read_file(build.object_path);
  if (!build.plan.recorded) {
    const std::vector<std::int64_t> scratch = runtime.scratch(arm, site.axes);
    return call_of(build.plan, object, static_cast<int>(site.bytes.size()), scratch,
                   shared_tensors_spec(site.family, site.axes, 1, scratch, {}, 1, Target::cuda).words);
  }
  auto call = decode_recorded_call(object);
  if (!call) {
    throw EnvironmentError("'" + build.object_path + "' is no record, or a part of one");
  }
  return *std::move(call);
}

// A variant of the step's family: its operations are its record.
Variant step_variant(const RecordedFamily& step, const std::string& name, const std::string& idea,
                     const RecordedCall& call, const fs::path& folder) {
  const std::string object = name + std::string(kRecordExtension);
  const std::string text = encode(call);
  if (text.size() > kMaxObjectBytes || !decode_recorded_call(text)) {
    throw UserError(
        fmt::format("{}: a record of {}, of at most {}", idea, format_bytes(static_cast<double>(text.size())),
                    format_bytes(static_cast<double>(kMaxObjectBytes))),
        "record a smaller step: fewer layers, a smaller batch");
  }
  const std::string source = fmt::format("// apo:variant {}/{}\n// apo:target cuda\n// apo:idea {}\n// apo:record {}\n",
                                         step.name, name, one_line(idea), object);
  return parse_variant(source, (folder / (name + ".cu")).string(),
                       {{.name = object, .text = text, .path = (folder / object).string()}});
}

std::optional<double> median_of(const std::vector<Round>& rounds, std::optional<double> RoundEnvironment::*field) {
  std::vector<double> values;
  for (const Round& round : rounds) {
    if (round.void_why.empty() && round.environment.*field) {
      values.push_back(*(round.environment.*field));
    }
  }
  std::ranges::sort(values);
  return values.empty() ? std::nullopt : std::optional(values[values.size() / 2]);
}

// Identical code is not timed, and neither is what is wrong.
bool is_timed(const InsideStep& inside) {
  return inside.own.judgement->incumbent_ns > 0 && inside.step && inside.step->judgement->incumbent_ns > 0;
}

}  // namespace

RecordedFamily step_family(const ProgramCall& step, const std::string& file) {
  const std::string name =
      "step_" + plain_name(fs::path(file).stem().string()) + "_" + sha256(encode(step)).substr(0, 8);
  return recorded_family(step, {.name = name, .declaration = "", .elements = {}});
}

RecordedKernel recorded_kernel(const Catalogue& catalogue, const Family& family, const RecordedCall& step) {
  std::vector<const Variant*> variants = catalogue.of_family(family.name);
  std::stable_partition(variants.begin(), variants.end(),
                        [](const Variant* variant) { return variant->name == "recorded"; });
  std::vector<RecordedKernel> kernels;
  for (const Variant* const variant : variants) {
    const auto call = is_recorded(*variant) ? decode_recorded_call(object_of(*variant).text) : std::nullopt;
    if (call && call->operations.size() == 1 && call->operations.front().kernel) {
      kernels.push_back(*call->operations.front().kernel);
    }
  }
  if (kernels.empty()) {
    throw UserError("no variant of " + family.name + " is a recorded kernel, whose launches a step could have",
                    "record the family with 'apo record --kernel NAME --nth K -- COMMAND'");
  }
  const auto launched = std::ranges::find_if(kernels, [&](const RecordedKernel& kernel) {
    return std::ranges::any_of(
        step.operations, [&](const RecordedOperation& one) { return one.kernel && one.kernel->name == kernel.name; });
  });
  return launched == kernels.end() ? kernels.front() : *launched;
}

RestOfStep rest_of_step(const InsideStep& inside) {
  const Judgement& own = *inside.own.judgement;
  const Judgement& step = *inside.step->judgement;
  return {.with_incumbent_ns = step.incumbent_ns - inside.replaced * own.incumbent_ns,
          .with_candidate_ns = step.candidate_ns - inside.replaced * own.candidate_ns,
          .own_mhz = median_of(inside.own.rounds, &RoundEnvironment::sm_mhz_after),
          .step_mhz = median_of(inside.step->rounds, &RoundEnvironment::sm_mhz_after),
          .own_watts = median_of(inside.own.rounds, &RoundEnvironment::watts),
          .step_watts = median_of(inside.step->rounds, &RoundEnvironment::watts)};
}

InsideStep compare_inside(Workspace& workspace, const ComparisonRequest& request, const std::string& file,
                          const std::string& at, Observer& observer) {
  const ProgramCall recorded = step_in(file);
  const Family& family = workspace.family(workspace.catalogue().get(request.candidate.variant).family);
  const Workload& workload = request.workloads.empty() ? first_workload(family, Target::cuda)
                                                       : workspace.workload(family, request.workloads.front());
  const Site site = site_in(workspace.catalogue(), family, workload, recorded.call, at);
  InsideStep inside{.own = compare_variants(workspace, request, observer), .step = {}, .kernel = site.at};
  if (inside.own.judgement->reason == Reason::gate_failed) {
    return inside;
  }
  const RecordedFamily step = step_family(recorded, file);
  const fs::path folder = keep_record(step, encode(step.call), workspace.paths().folder / "records");
  if (find_family(step.name) == nullptr) {
    add_family_file((folder / kRecordedFamily).string(), oracle_options(workspace.paths()));
  }
  workspace.catalogue().add(step_variant(step, "recorded", "the step as it was recorded", step.call, folder));
  const Runtime runtime = workspace.runtime(family);
  const auto arm = [&](const Configuration& configuration, const char* which) {
    const StepWith with =
        step_with(recorded.call, site.kernel, site.at, site.bytes, call_of_arm(runtime, configuration, site));
    inside.replaced = with.replaced;
    inside.kept = with.kept;
    const std::string name = which + plain_name(configuration.label());
    workspace.catalogue().add(step_variant(step, name, "the step with " + configuration.label(),
                                           on_tensors(with.call, step.tensors), folder));
    return Configuration{.variant = step.name + "/" + name, .settings = {}};
  };
  ComparisonRequest whole = request;
  whole.workloads = {};
  whole.incumbent = arm(request.incumbent, "a_");
  whole.candidate = arm(request.candidate, "b_");
  inside.step = compare_variants(workspace, whole, observer);
  return inside;
}

nlohmann::ordered_json to_document(const InsideStep& inside) {
  nlohmann::ordered_json document = {
      {"alone", to_document(inside.own)}, {"step", nullptr},     {"kernel", inside.kernel},
      {"replaced", inside.replaced},      {"kept", inside.kept}, {"rest_of_step", nullptr}};
  if (!inside.step) {
    return document;
  }
  document["step"] = to_document(*inside.step);
  if (is_timed(inside)) {
    const RestOfStep rest = rest_of_step(inside);
    document["rest_of_step"] = {
        {"with_incumbent_ns", rest.with_incumbent_ns}, {"with_candidate_ns", rest.with_candidate_ns},
        {"alone_mhz", json_of(rest.own_mhz)},          {"step_mhz", json_of(rest.step_mhz)},
        {"alone_watts", json_of(rest.own_watts)},      {"step_watts", json_of(rest.step_watts)}};
  }
  return document;
}

std::string inside_text(const InsideStep& inside) {
  std::string text = fmt::format("alone: {}\n", inside.own.judgement->sentence);
  if (!inside.step) {
    return text;
  }
  text += fmt::format("the step with {} of {} launches of {} replaced: {}\n", inside.replaced,
                      inside.replaced + inside.kept, inside.kernel, inside.step->judgement->sentence);
  if (!is_timed(inside)) {
    return text;
  }
  const Judgement& own = *inside.own.judgement;
  const Judgement& step = *inside.step->judgement;
  const RestOfStep rest = rest_of_step(inside);
  text += fmt::format("{:<22}{:>12}{:>12}\n", "", "A", "B");
  const auto row = [&](const std::string& name, double a, double b) {
    text += fmt::format("{:<22}{:>12}{:>12}\n", name, format_ns(a), format_ns(b));
  };
  row("the kernel alone", own.incumbent_ns, own.candidate_ns);
  row(fmt::format("{} launches of it", inside.replaced), inside.replaced * own.incumbent_ns,
      inside.replaced * own.candidate_ns);
  row("the step", step.incumbent_ns, step.candidate_ns);
  row("the rest of the step", rest.with_incumbent_ns, rest.with_candidate_ns);
  const auto state = [](const std::optional<double>& mhz, const std::optional<double>& watts) {
    return fmt::format("{}, {}", mhz ? fmt::format("{:.0f} MHz", *mhz) : "clock unknown",
                       watts ? fmt::format("{:.0f} W", *watts) : "power unknown");
  };
  return text + fmt::format("alone at {}; in the step at {}\n", state(rest.own_mhz, rest.own_watts),
                            state(rest.step_mhz, rest.step_watts));
}

}  // namespace apo
