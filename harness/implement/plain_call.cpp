// harness/implement/plain_call.cpp - chooses the function of the text that is called, and writes the call.
#include "harness/implement/plain_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/core/bare_source.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/match_call.h"
#include "harness/implement/variant/args_header.h"

namespace apo {
namespace {

// C++11, for files that ask for an old standard. A fraction that becomes an integer on the way is a parameter in the
// wrong place.
constexpr std::string_view kPlainCall = R"(
#pragma GCC diagnostic error "-Wfloat-conversion"
struct apo_done {{
  operator int() const {{ return {done}; }}
}};
template <class Answer>
auto operator,(const Answer& answer, apo_done) -> decltype(static_cast<int>(answer)) {{ return static_cast<int>(answer); }}
APO_EXPORT uint32_t apo_abi(void) {{ return APO_ABI_VERSION; }}
APO_EXPORT int apo_launch(const apo_call* call) {{
  const {family}_args& a = *static_cast<const {family}_args*>(call->arguments);
{setup}  return ({function}({arguments}), apo_done());
}}
)";

struct FileFunction {
  FunctionText function;
  std::string place;
  bool is_own = false;  // of the variant's own file
};

std::vector<FileFunction> functions_of(const Variant& variant) {
  Symbols toggles;  // whose value is known: as_set()
  for (const Tunable& tunable : variant.tunables) {
    if (tunable.values.size() == 1) {
      toggles[tunable.name] = tunable.values.front();
    }
  }
  std::vector<FileFunction> all;
  for (const SourceFile& file : all_sources(variant)) {
    const bool is_own = all.empty() || file.text == variant.source;
    for (FunctionText& function : host_functions(is_binary(file.text) ? "" : file.text, toggles)) {
      const std::string place = fmt::format("{}:{}", file.path.empty() ? file.name : file.path, function.line);
      all.push_back({.function = std::move(function), .place = place, .is_own = is_own});
    }
  }
  return all;
}

// No file of a variant begins with a dot.
std::string plain_name(const Variant& variant) {
  return variant.target == Target::cuda ? ".plain.cu" : ".plain.cpp";
}

// ---------------------------------------------------------------- which function

struct Choice {
  const FileFunction* function = nullptr;
  CallMatch match;
};

// "softmax" of "mine::softmax<32>"
std::string plain_part(const std::string& function) {
  const std::string name = function.substr(0, function.find('<'));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

Choice choose_named(const CallOffer& offer, const std::vector<FileFunction>& all, const std::string& name) {
  Choice choice;
  for (const FileFunction& one : all) {
    if (one.function.name == name && (choice.function == nullptr || !choice.match.problem.empty())) {
      choice = {.function = &one, .match = match_function(offer, one.function)};
    }
  }
  return choice;
}

// Of a .cu file, whose pointers are a GPU's, those that launch something: a check on the CPU may stand beside them.
bool may_be_meant(const CallOffer& offer, const FileFunction& one) {
  return one.function.name != "main" && (offer.variant.target == Target::host || one.function.launches);
}

std::vector<Choice> choose_fitting(const CallOffer& offer, const std::vector<FileFunction>& all) {
  std::vector<Choice> fitting;
  for (const FileFunction& one : all) {
    if (CallMatch match = match_names(offer, one.function); match.problem.empty() && may_be_meant(offer, one)) {
      fitting.push_back({.function = &one, .match = std::move(match)});
    }
  }
  return fitting;
}

// Of the variant's own file; of the others where it has none, as one with an include line and no more.
std::string names_of(const CallOffer& offer, const std::vector<FileFunction>& all) {
  std::vector<std::string> names;
  for (const bool own : {true, false}) {
    for (const FileFunction& one : all) {
      const bool is_new = std::ranges::find(names, one.function.name) == names.end();
      if (is_new && one.is_own == own && may_be_meant(offer, one)) {
        names.push_back(one.function.name);
      }
    }
    if (!names.empty()) {
      break;
    }
  }
  return join(names, ", ");
}

// `problem` is set where there is none.
Choice choose(const CallOffer& offer, const std::vector<FileFunction>& all, std::string& problem) {
  const Variant& variant = offer.variant;
  const std::string file = variant.path.empty() ? source_name(variant) : variant.path;
  if (!variant.function.empty()) {
    Choice named = choose_named(offer, all, plain_part(variant.function));
    if (named.function == nullptr) {
      problem = fmt::format("{}:1: there is no host function '{}'; the file has: {}", file, variant.function,
                            names_of(offer, all));
    }
    return named;
  }
  Choice nearest;
  for (const std::string& name : {variant.family, variant.name}) {
    Choice named = choose_named(offer, all, name);
    if (named.function != nullptr && named.match.problem.empty()) {
      return named;
    }
    nearest = nearest.function == nullptr ? named : nearest;
  }
  std::vector<Choice> fitting = choose_fitting(offer, all);
  if (fitting.size() == 1) {
    return fitting.front();
  }
  std::vector<std::string> names;
  for (const Choice& one : fitting) {
    names.push_back(one.function->function.name);
  }
  const std::string own = names_of(offer, all);
  if (!names.empty()) {
    problem = fmt::format("{}:1: several functions fit: {}; name one with --function or '// apo:function NAME'", file,
                          join(names, ", "));
  } else if (nearest.function == nullptr) {
    problem =
        fmt::format("{}:1: there is no function that can be called as '{}', and no apo_launch{}{}", file,
                    plain_signature(offer.family, variant), variant.target == Target::cuda ? " or apo:launch line" : "",
                    own.empty() ? "" : "; name one with --function or '// apo:function NAME': " + own);
  }
  return nearest;
}

std::string source_of(const CallOffer& offer, const std::string& call) {
  const std::string name = plain_name(offer.variant);
  return fmt::format("// {} - calls the code of {}.\n#include \"{}\"\n#include \"{}\"\n{}", name, offer.variant.id(),
                     args_header_name(offer.family), source_name(offer.variant), call);
}

std::string call_of(const CallOffer& offer, const std::string& function, const CallMatch& match) {
  std::vector<std::string> arguments;
  for (const PassedValue& value : match.values) {
    arguments.push_back(value.cpp);
  }
  const auto setup = offer.variant.arguments.find(kSetup);
  const bool cuda = offer.variant.target == Target::cuda;
  return fmt::format(fmt::runtime(kPlainCall), fmt::arg("family", offer.family.name), fmt::arg("function", function),
                     fmt::arg("arguments", join(arguments, ", ")),
                     fmt::arg("done", cuda ? "static_cast<int>(cudaGetLastError())" : "0"),
                     fmt::arg("setup", setup == offer.variant.arguments.end()
                                           ? ""
                                           : fmt::format("  static const bool ready = ({}(), true);\n  (void)ready;\n",
                                                         setup->second)));
}

bool exports_abi(const Variant& variant) {
  const std::vector<SourceFile> files = all_sources(variant);
  return std::ranges::any_of(files, [](const SourceFile& file) {
    return has_word(file.text, "apo_launch") && has_word(bare_source(file.text, false), "apo_launch");
  });
}

}  // namespace

std::string plain_signature(const Family& family, const Variant& variant) {
  std::vector<std::string> parameters;
  for (const ArgumentField& field : argument_fields(family, variant)) {
    parameters.push_back(field.type + " " + field.name);
  }
  return "void " + family.name + "(" + join(parameters, ", ") + ")";
}

PlainCall plain_call(const Family& family, const Variant& variant) {
  const CallOffer offer{.family = family, .variant = variant, .fields = argument_fields(family, variant)};
  PlainCall call{.source = {.name = plain_name(variant), .text = source_of(offer, ""), .path = ""}};
  if (variant.function.empty() && exports_abi(variant)) {
    return call;
  }
  const std::vector<FileFunction> all = functions_of(variant);
  const Choice choice = choose(offer, all, call.problem);
  if (choice.function == nullptr) {
    call.found_none = names_of(offer, all).empty();
    return call;
  }
  const FunctionText& function = choice.function->function;
  call.function = variant.function.empty() ? function.name : variant.function;
  call.place = choice.function->place;
  call.sides = fmt::format("the function:  {}\nthe contract:  {}\n", function.signature(),
                           plain_signature(family, variant).substr(std::string_view("void ").size()));
  if (call.problem.empty() && !choice.match.problem.empty()) {
    call.problem = fmt::format("{}: {} cannot be called: {}; the contract has '{}'", call.place, function.name,
                               choice.match.problem, plain_signature(family, variant));
  }
  std::vector<std::string> shown;
  for (const PassedValue& value : choice.match.values) {
    shown.push_back(value.shown);
  }
  call.text = call.function + "(" + join(shown, ", ") + ")";
  call.source.text = source_of(offer, call_of(offer, call.function, choice.match));
  return call;
}

void explain_call(CompileStep& step, const PlainCall& call) {
  if (step.ok && !call.problem.empty()) {
    step.ok = false;
    step.evidence = call.problem;
  }
  if (step.ok || step.timed_out || call.function.empty() || !step.evidence.starts_with(call.source.name)) {
    return;
  }
  const std::size_t words = step.evidence.find("error: ");
  step.evidence = fmt::format("{}: {} cannot be called as {}: {}", call.place, call.function, call.text,
                              words == std::string::npos ? step.evidence : step.evidence.substr(words + 7));
  step.log = call.sides;
}

}  // namespace apo
