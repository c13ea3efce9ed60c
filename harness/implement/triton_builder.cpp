// harness/implement/triton_builder.cpp - asks for the version, describes the kernels' arguments, plans their launches.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "harness/core/expression/expression.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/cached_build.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/launch_plan.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kTritonRecipe = 2;
constexpr int kUnavailable = 69;  // compile_triton.py's exit code
constexpr int kOldestMinor = 4;   // of Triton 3: what compile_triton.py calls
constexpr const char* kRequest = "request.json";
constexpr const char* kLaunch = "launch.json";
constexpr const char* kInstall = "install Triton 3.4 or newer for the python3 in PATH: python3 -m pip install triton";

struct Triton {
  std::string python;   // path
  std::string version;  // "3.6.0"
  std::string missing;  // a sentence; empty: it is there
};

ProcessResult run_script(const std::string& python, const std::vector<std::string>& arguments, const fs::path& folder,
                         double timeout_s, const std::stop_token& stop = {}) {
  std::vector<std::string> command = {python};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, {.timeout_s = timeout_s,
                               .working_folder = folder.string(),
                               .environment = {"LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0",
                                               "CUDA_VISIBLE_DEVICES=", "TMPDIR=" + folder.string(),
                                               "TRITON_CACHE_DIR=" + (folder / ".triton").string()},
                               .stop = stop});
}

Triton find_triton(const fs::path& script) {
  const auto python = find_program("python3");
  if (!python) {
    return {.missing = std::string("there is no python3 here: ") + kInstall};
  }
  constexpr double kPatience = 30;
  const ProcessResult result =
      run_script(*python, {script.string(), "--version"}, fs::temp_directory_path(), kPatience);
  Triton triton{.python = *python, .version = trim(result.output), .missing = ""};
  const std::vector<std::string> parts = split(triton.version, '.');
  const auto number = [&](std::size_t i) { return i < parts.size() ? parse_int(parts[i]).value_or(0) : 0; };
  if (result.exit_code == kUnavailable) {
    triton.missing = "'" + *python + "' has no Triton: " + kInstall;
  } else if (!result.ok()) {
    const std::string sudden = sudden_end(result, kPatience);
    triton.missing =
        fmt::format("'{}' does not work: {}", *python, sudden.empty() ? first_error(result.error) : "it " + sudden);
  } else if (number(0) < 3 || (number(0) == 3 && number(1) < kOldestMinor)) {
    triton.missing = fmt::format("the Triton of '{}' is {}: {}", *python, triton.version, kInstall);
  }
  return triton;
}

// Arguments that a kernel may take by name, in the order of the argument struct: a word of it, and its type. Axes are
// typed and specialised as Triton's own launcher does it: i32 where that is enough, divisible by 16, or the constant 1.
std::vector<std::pair<std::string, Json>> named_arguments(const Family& family, const Variant& variant,
                                                          const Axes& axes) {
  std::vector<std::pair<std::string, Json>> named;
  for (const ArgumentField& field : argument_fields(family, variant)) {
    Json argument = {{"text", field.name}, {"word", named.size()}, {"divisible", false}};
    const auto axis = axes.find(field.name);
    const auto tensor = std::ranges::find(family.tensors, field.name, &TensorSpec::name);
    const auto scalar = std::ranges::find(family.scalars, field.name, &ScalarSpec::name);
    if (axis != axes.end() && axis->second == 1) {
      argument["constant"] = 1;
    } else if (axis != axes.end()) {
      argument["type"] = axis->second <= INT32_MAX ? "i32" : "i64";
      argument["divisible"] = axis->second % 16 == 0;
    } else if (scalar != family.scalars.end()) {
      argument["type"] = element_names(scalar->dtype).triton;
    } else {  // a tensor or a scratch buffer, which are aligned to 64 bytes
      argument["type"] =
          std::string("*") + (tensor == family.tensors.end() ? "i8" : element_names(tensor->dtype).triton);
      argument["divisible"] = true;
    }
    named.emplace_back(field.name, argument);
  }
  return named;
}

// An integer, or a text for Python to read.
Json constant(const std::string& expression, const Symbols& symbols) {
  return is_python_constant(expression) ? Json(expression) : Json(evaluate(expression, symbols));
}

// One word of args=.
Json argument(const std::string& text, const std::vector<std::pair<std::string, Json>>& named, const Symbols& symbols) {
  const std::vector<std::string> parts = split(text, ':');
  const auto found = std::ranges::find(named, parts[0], &std::pair<std::string, Json>::first);
  if (found == named.end()) {
    return {{"text", text}, {"constant", constant(text, symbols)}};
  }
  Json argument = found->second;
  if (parts.size() > 1) {
    argument["type"] = "*" + parts[1];
  }
  return argument;
}

Json kernel_request(const Launch& launch, const std::vector<std::pair<std::string, Json>>& named,
                    const Symbols& symbols) {
  Json request = {{"kernel", launch.kernel},
                  {"arguments", Json::array()},
                  {"constants", Json::object()},
                  {"options", Json::object()}};
  for (const auto& [name, argument] : named) {
    if (!launch.attributes.contains("args")) {
      request["arguments"].push_back(argument);
    }
  }
  for (const auto& [name, text] : launch.attributes) {
    if (name == "args") {
      for (const std::string& one : split_expressions(text)) {
        request["arguments"].push_back(argument(one, named, symbols));
      }
    } else if (name == "warps" || name == "stages") {
      request["options"]["num_" + name] = evaluate(text, symbols);
    } else if (name != "grid" && name != "when") {
      request["constants"][name] = constant(text, symbols);
    }
  }
  return request;
}

Json request_of(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings,
                const std::string& arch) {
  const Symbols symbols = expression_symbols(variant, axes, settings, {});
  const auto named = named_arguments(family, variant, axes);
  Json request = {{"kernels", Json::array()}, {"tunables", Json::object()}, {"capability", std::stoi(arch.substr(3))}};
  for (const Launch& launch : variant.launches) {
    request["kernels"].push_back(kernel_request(launch, named, symbols));
  }
  for (const auto& [name, value] : resolve_settings(variant, settings)) {
    request["tunables"][name] = value;
  }
  return request;
}

CompileStep compile_with_triton(const BuildOptions& options, const Triton& triton, const fs::path& script,
                                const std::string& source, const fs::path& folder) {
  const ProcessResult result =
      run_script(triton.python, {script.string(), kRequest, source, kCubin}, folder, options.timeout_s, options.stop);
  fs::remove_all(folder / ".triton");
  CompileStep step{.ok = result.ok(), .log = result.error, .evidence = "", .timed_out = result.timed_out};
  if (const std::string sudden = sudden_end(result, options.timeout_s); !sudden.empty()) {
    step.evidence = "python3 " + sudden;
  } else if (!result.ok()) {
    const std::size_t last = result.error.rfind(source + ":");
    step.evidence = first_error(last == std::string::npos ? result.error : result.error.substr(last));
  } else if (is_absent(folder / kCubin) || !Json::accept(result.output)) {
    step = {.ok = false, .log = result.error, .evidence = "the file ended python3 before the kernel was compiled"};
  } else {
    write_file_atomically(folder / kLaunch, result.output);
  }
  return step;
}

// The launch lines in the words of other device variants: what Triton decided is a number by now.
PlannedLaunches plan_triton(const Family& family, Variant variant, const Axes& axes, const Settings& settings,
                            const DeviceFacts& device, const Built& built) {
  const Json compiled = Json::parse(read_file(fs::path(built.build.object_path).parent_path() / kLaunch));
  constexpr std::int64_t kWarp = 32;
  for (std::size_t i = 0; i < variant.launches.size(); ++i) {
    const Json& one = compiled.at(i);
    variant.launches[i] = {.kernel = one.at("kernel"),
                           .attributes = {{"grid", variant.launches[i].attributes.at("grid")},
                                          {"block", std::to_string(kWarp * one.at("warps").get<std::int64_t>())},
                                          {"shared", std::to_string(one.at("shared").get<std::int64_t>())}}};
  }
  PlannedLaunches planned = plan_launches(family, variant, axes, settings, device, built.kernels);
  for (std::size_t i = 0; i < planned.plan.launches.size(); ++i) {
    planned.plan.launches[i].words = compiled.at(i).at("words").get<std::vector<int>>();
  }
  return planned;
}

}  // namespace

Build build_triton(const BuildOptions& options, const BuildCache& cache, const Family& family, const Variant& variant,
                   const Axes& axes, const Settings& settings) {
  const fs::path script = options.home / "harness" / "implement" / "compile_triton.py";
  const Triton triton = find_triton(script);
  std::string refusal;
  const std::string arch = choose_arch(variant, options.device, refusal);
  if (!triton.missing.empty() || !refusal.empty()) {
    return not_built(Outcome::refused,
                     refusal.empty() ? variant.id() + " is a Triton kernel, and " + triton.missing : refusal);
  }
  BuildRecipe recipe{
      .key = {fmt::format("triton recipe {}", kTritonRecipe), triton.python, triton.version, read_file(script)},
      .files = all_sources(variant),
      .object = kCubin,
      .more = {kLaunch},
      .built_for = variant.id(),
      .known = {.flags = {arch}, .toolchain = {.compiler = triton.python, .version = "Triton " + triton.version}}};
  const std::string source = recipe.files.front().name;
  try {
    recipe.files.push_back(
        {.name = kRequest, .text = request_of(family, variant, axes, settings, arch).dump(1), .path = ""});
  } catch (const ExpressionError& error) {
    return not_built(Outcome::refused, std::string("apo:launch: ") + error.what());
  }
  Built built = cached_build(cache, recipe, [&](const fs::path& folder, Built& in_the_making) {
    CompileStep step = compile_with_triton(options, triton, script, source, folder);
    step.evidence = in_users_words(step.evidence, variant);
    if (step.ok) {
      use_cubin(in_the_making, folder);
    }
    return step;
  });
  Build build = built.build;
  if (build.outcome == Outcome::valid && options.device) {
    use_plan(build, plan_triton(family, variant, axes, settings, *options.device, built));
  }
  return build;
}

}  // namespace apo
