// harness/implement/python_builder.cpp - describes the family to call_python.py, and takes its answer.
#include "harness/implement/python_builder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/hash.h"
#include "harness/core/recording/python_file.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Document = nlohmann::ordered_json;

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kPythonRecipe = 2;
constexpr double kToRead = 60;  // seconds

Document described(const Family& family, const Variant& variant) {
  Document document = {{"name", family.name},          {"inputs", Document::array()}, {"outputs", Document::array()},
                       {"scalars", Document::array()}, {"axes", Document::array()},   {"tunables", Document::array()}};
  for (const TensorSpec& tensor : family.tensors) {
    const std::string dtype(to_string(tensor.dtype));
    document[tensor.role == Role::output ? "outputs" : "inputs"].push_back(
        {{"name", tensor.name}, {"dtype", dtype}, {"text", dtype + tensor.shape_text}, {"in_place", tensor.in_place}});
  }
  for (const ScalarSpec& scalar : family.scalars) {
    document["scalars"].push_back(scalar.name);
  }
  for (const AxisSpec& axis : family.axes) {
    document["axes"].push_back(axis.name);
  }
  for (const Tunable& tunable : variant.tunables) {
    document["tunables"].push_back(tunable.name);
  }
  return document;
}

std::string request_of(const Family& family, const Variant& variant, const Settings& settings) {
  return Document{{"file", source_name(variant)},         {"variant", variant.name},
                  {"function", variant.function},         {"arguments", variant.arguments},
                  {"family", described(family, variant)}, {"values", resolve_settings(variant, settings)},
                  {"contract", family.contract}}
      .dump(1, ' ', false, Document::error_handler_t::replace);
}

}  // namespace

PythonCall python_call(const fs::path& home, const Family& family, const Variant& variant, const Settings& settings) {
  const auto python = find_program("python3");
  if (!python) {
    return {.outcome = Outcome::refused,
            .evidence = variant.id() + " is a Python file, and there is no python3 here: apt-get install python3"};
  }
  const TemporaryFolder folder("apo-python");
  write_file_atomically(folder.path() / source_name(variant), variant.source);
  write_file_atomically(folder.path() / kPythonRequest, request_of(family, variant, settings));
  const ProcessResult ran = run_process({*python, "-B", (home / kPythonScript).string(), "form", kPythonRequest},
                                        {.timeout_s = kToRead, .working_folder = folder.path().string()});
  const fs::path answer = folder.path() / "ANSWER.json";
  if (is_absent(answer)) {
    const std::string sudden = sudden_end(ran, kToRead);
    return {.python = *python,
            .outcome = Outcome::refused,
            .evidence = fmt::format("'{}' does not work: {}", *python,
                                    sudden.empty() ? first_error(ran.error) : "it " + sudden)};
  }
  const Document said = Document::parse(read_file(answer));
  return {.python = *python,
          .version = said.value("version", ""),
          .text = said.value("call", ""),
          .outcome = outcome_from(said.at("outcome").get<std::string>()).value(),
          .evidence = in_users_words(said.at("evidence").get<std::string>(), variant)};
}

Build build_python(const BuildOptions& options, const BuildCache& cache, const Family& family, const Variant& variant,
                   const Settings& settings) {
  const PythonCall call = python_call(options.home, family, variant, settings);
  const Toolchain toolchain{.compiler = call.python, .version = call.version};
  if (call.outcome != Outcome::valid) {
    return not_built(call.outcome, call.evidence, {.toolchain = toolchain});
  }
  BuildRecipe recipe{.key = {fmt::format("python recipe {}", kPythonRecipe), call.python, call.version},
                     .files = all_sources(variant),
                     .object = kPythonRequest,
                     .built_for = variant.id(),
                     .known = {.toolchain = toolchain}};
  for (const fs::path& script : files_below((options.home / kPythonScript).parent_path())) {
    recipe.key.push_back(script.extension() == ".py" ? read_file(script) : "");
  }
  recipe.files.push_back({.name = kPythonRequest, .text = request_of(family, variant, settings), .path = ""});
  Build build =
      cached_build(cache, recipe, [&](const fs::path&, Built& built) {
        built.build.code_hash = sha256_of_parts(Words{variant.source, recipe.files.back().text, call.version});
        return CompileStep{.ok = true, .log = "calls " + call.text + "\n"};
      }).build;
  build.plan.library = build.outcome == Outcome::valid;
  return build;
}

}  // namespace apo
