// harness/cli/bring/register.cpp - `apo register`: adds a variant or family whose gates pass, or retires one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/bring/family_text.h"
#include "harness/cli/brought_options.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/family_file.h"
#include "harness/loop/contract/register_family.h"
#include "harness/loop/trial/candidate_judge.h"
#include "harness/loop/trial/registration.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

std::string state_text(const CandidateAnswer& answer) {
  return answer.verdict == CandidateVerdict::wrong ? "refused"
         : answer.path.empty()                     ? "not registered: a guard is switched off"
                                                   : replace_all(std::string(to_string(answer.verdict)), "_", " ");
}

Json document_of(const CandidateAnswer& answer) {
  const bool refused = answer.verdict == CandidateVerdict::wrong;
  Json document = {{"variant", answer.variant},
                   {"version", answer.version},
                   {"state", state_text(answer)},
                   {"gates", to_documents(answer.gates)},
                   {"notes", refused ? Json::array() : Json(answer.feedback)},
                   {"path", answer.path}};
  if (refused) {
    document["log"] = answer.log;
  }
  return document;
}

void print_registration(const CandidateAnswer& answer) {
  print(gates_text(answer.gates));
  if (answer.verdict == CandidateVerdict::wrong) {
    const GateResult& last = answer.gates.back();
    std::fputs(last.outcome == Outcome::build_failed ? as_quotation(answer.log).c_str() : "", stderr);
    std::fprintf(stderr, "apo: %s is not registered: gate %s says %s\n", answer.variant.c_str(), last.gate.c_str(),
                 std::string(to_string(last.outcome)).c_str());
    return;
  }
  for (const std::string& note : answer.feedback) {
    print(from_here("note: " + note + "\n"));
  }
  // "copy/mine", and "copy/mine@2" of the second text under that name.
  print(from_here(answer.variant + (answer.version > 1 ? fmt::format("@{}", answer.version) : "") +
                  (answer.verdict == CandidateVerdict::already_registered ? " is " : " ") + state_text(answer) +
                  (answer.path.empty() ? "" : ": " + answer.path) + "\n"));
}

int add(RegistrationRequest request, const Globals& globals) {
  const InterruptNote note("nothing is registered", "register it with", globals.words);
  const TemporaryFolder folder;
  if (request.file == "-") {
    request.file = candidate_file(request.file, folder.path()).path;
  }
  if (is_family_file(read_file(request.file))) {
    return register_family(request.file, request.checks.verify, globals);
  }
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const CandidateAnswer answer = register_file(workspace, request, observer);
  if (globals.json) {
    print_json(document_of(answer));
  } else {
    print_registration(answer);
  }
  return answer.verdict == CandidateVerdict::wrong ? kGateFailed : kDone;
}

// Those of the family that were registered here: without it they are nothing.
std::vector<std::string> registered_variants(const Workspace& workspace, const std::string& family) {
  std::vector<std::string> ids;
  for (const Variant* variant : workspace.catalogue().of_family(family)) {
    ids.push_back(variant->id());
  }
  return ids;
}

// Their apo:parent lines would name nobody.
void check_childless(const Workspace& workspace, const std::string& id) {
  const std::vector<std::string> children = workspace.catalogue().registered_children(id);
  if (children.empty()) {
    return;
  }
  const std::string family = id.substr(0, id.find('/'));
  const bool is_own = std::filesystem::exists(workspace.paths().families / family);
  throw UserError(
      fmt::format("{} is the apo:parent of {}", id, join(children, ", ")),
      "retire these first" + (is_own ? ", or the whole family: 'apo register --retire " + family + "'" : ""));
}

int retire(const std::string& id, const Globals& globals) {
  const Paths paths = make_paths(globals.journal);
  const bool is_family = id.find('/') == std::string::npos;
  Workspace workspace(paths);
  if (!is_family) {
    check_childless(workspace, id);
  }
  const std::vector<std::string> variants = is_family ? registered_variants(workspace, id) : std::vector<std::string>();
  const std::string path = is_family ? retire_family(id, paths.families) : unregister(workspace, id);
  for (const std::string& variant : variants) {
    unregister(workspace, variant);
  }
  Json document = {{is_family ? "family" : "variant", id}, {"state", "unregistered"}, {"path", path}};
  if (is_family) {
    document["variants"] = variants;
  }
  print_answer(globals, document,
               id + " is no longer registered; the journal keeps its results, and its file is " + path + "\n" +
                   (variants.empty() ? "" : "its variants went with it: " + join(variants, ", ") + "\n"));
  return kDone;
}

}  // namespace

Action define_register(CLI::App& app, Globals& globals) {
  const auto request = std::make_shared<RegistrationRequest>();
  const auto unverified = std::make_shared<bool>(false);
  const auto unexecuted = std::make_shared<bool>(false);
  const auto retired = std::make_shared<std::string>();
  const auto brought = std::make_shared<BroughtOptions>();
  auto* file = app.add_option("file", request->file,
                              "source file of a variant (.cpp, .cu, .py), a shared object with a TVM-FFI "
                              "function (.so), or "
                              "the file of a family (apo:family); - reads a variant from standard input");
  auto* family = app.add_option("--family", request->family,
                                "kernel family of a file without an apo:variant line (default: its folder's name)");
  auto* no_verify = app.add_flag("--no-verify", *unverified,
                                 "check the metadata block only; every experiment still runs the gates first");
  auto* no_executor =
      app.add_flag("--no-executor", *unexecuted, "skip the check on the CPU executor; the checks on a GPU still run")
          ->excludes(no_verify);
  auto* retire_option =
      app.add_option("--retire", *retired,
                     "retire this registered variant FAMILY/NAME, or family with its variants; the journal keeps its "
                     "results");
  exclude(retire_option, {file, family, no_verify, no_executor});
  add_brought(app, *brought);
  return [request, unverified, unexecuted, retired, brought, &globals] {
    if (!retired->empty()) {
      return retire(*retired, globals);
    }
    if (request->file.empty()) {
      throw UserError("file is required",
                      "'apo register FILE' adds a variant or a family, 'apo register --retire NAME' retires one");
    }
    request->checks.verify = !*unverified;
    request->checks.executor = !*unexecuted;
    request->lines = brought->lines;
    int answer = kDone;
    for (const std::string& function : brought->functions_or_none()) {
      request->function = function;
      answer = std::max(answer, add(*request, globals));
    }
    return answer;
  };
}

}  // namespace apo
