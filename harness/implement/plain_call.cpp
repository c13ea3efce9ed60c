// harness/implement/plain_call.cpp - finds the function in the text, and a value for each of its parameters.
#include "harness/implement/plain_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "harness/core/bare_source.h"
#include "harness/core/expression/expression.h"
#include "harness/core/pattern.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/functions.h"

namespace apo {
namespace {

constexpr const char* kSetup = "setup";  // a name of the apo:function line that is no parameter's

// C++11, for files that ask for an old standard. A fraction that becomes an integer on the way is a parameter in the
// wrong place.
constexpr std::string_view kCall = R"(
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
  std::vector<FileFunction> all;
  for (const SourceFile& file : all_sources(variant)) {
    const bool is_own = all.empty() || file.text == variant.source;
    for (FunctionText& function : host_functions(is_binary(file.text) ? "" : file.text)) {
      const std::string place = fmt::format("{}:{}", file.path.empty() ? file.name : file.path, function.line);
      all.push_back({.function = std::move(function), .place = place, .is_own = is_own});
    }
  }
  return all;
}

// ---------------------------------------------------------------- what a parameter may get

// No file of a variant begins with a dot.
std::string plain_name(const Variant& variant) {
  return variant.target == Target::cuda ? ".plain.cu" : ".plain.cpp";
}

enum class Kind : std::uint8_t { pointer, floating, integer, unknown };

Kind kind_of(std::string_view type) {
  static const Pattern kFloating(R"(.*\b(float|double|half|__half|__nv_bfloat16)\b.*)");
  static const Pattern kInteger(R"(.*\b(int|long|short|unsigned|bool|size_t|uint|u?int(8|16|32|64)_t)\b.*)");
  return type.ends_with('*') || type.ends_with(']') ? Kind::pointer
         : kFloating.matches(type)                  ? Kind::floating
         : kInteger.matches(type)                   ? Kind::integer
                                                    : Kind::unknown;
}

bool is_kind(const std::string& type, const std::string& wanted) {
  const Kind kind = kind_of(type);
  return kind == kind_of(wanted) || kind == Kind::unknown;
}

// "long long" of "const long long*"
std::string element_of(std::string_view type) {
  std::string element;
  for (const std::string& word : split_words(replace_all(replace_all(std::string(type), "*", " "), "std::", ""))) {
    element += word == "const" ? "" : (element.empty() ? "" : " ") + word;
  }
  return element;
}

// Two names of integers of 64 bits are two types in C++.
bool is_long(const std::string& element) {
  return element == "long" || element == "long long" || element == "int64_t";
}

// The field as a parameter of this type.
std::string field_value(const ArgumentField& field, const Parameter& parameter, bool is_template) {
  const std::string value = "a." + field.name;
  if (kind_of(field.type) != Kind::pointer || is_template) {
    return value;
  }
  const std::string wanted = element_of(parameter.type);
  const bool same_long = is_long(wanted) && is_long(element_of(field.type));
  if (field.type == "void*" || same_long) {
    return fmt::format("({}){}", parameter.type, value);  // also away from const
  }
  const bool loses_const = field.type.starts_with("const ") && !has_word(parameter.type, "const");
  return loses_const ? fmt::format("const_cast<{}*>({})", element_of(field.type), value) : value;
}

struct Value {
  std::string cpp;
  std::string shown;  // "x", or "N=rows"
};

// Everything of a variant that may be passed.
struct Offer {
  const Family& family;
  const Variant& variant;
  std::vector<ArgumentField> fields;

  const ArgumentField* field(const std::string& name) const {
    const auto found = std::ranges::find(fields, name, &ArgumentField::name);
    return found == fields.end() ? nullptr : &*found;
  }
  bool is_constant(const std::string& name) const {
    const std::vector<std::string> names = constant_names(family, variant);
    return std::ranges::find(names, name) != names.end();
  }
  // An expression over axes and constants, in C++; nullopt where it is none.
  std::optional<std::string> expression(const std::string& text) const {
    static const Pattern kLiteral(R"([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?f?|nullptr|true|false)");
    static const Pattern kCallsOne(R"(.*[A-Za-z0-9_]\s*\(.*)");
    std::vector<std::string> names = constant_names(family, variant);
    for (const AxisSpec& axis : family.axes) {
      names.push_back(axis.name);
    }
    if (kLiteral.matches(text)) {
      return text;
    }
    if (kCallsOne.matches(text) || !check_expression(text, names).empty()) {
      return std::nullopt;
    }
    std::string cpp;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_letter_of_word(text[end])) {
        ++end;
      }
      const std::string word = text.substr(at, std::max<std::size_t>(end - at, 1));
      cpp += (field(word) != nullptr ? "a." : "") + word;
      at += word.size();
    }
    return cpp;
  }
};

// What the apo:function line or a name says; nullopt: nothing is called like it, or that is of another kind.
std::optional<Value> named_value(const Offer& offer, const Parameter& parameter, bool is_template) {
  const auto given = offer.variant.arguments.find(parameter.name);
  const bool is_given = given != offer.variant.arguments.end();
  const std::string& name = is_given ? given->second : parameter.name;
  const std::string shown = (is_given && name != parameter.name ? parameter.name + "=" : "") + name;
  if (const ArgumentField* field = offer.field(name); field != nullptr && is_kind(parameter.type, field->type)) {
    return Value{.cpp = field_value(*field, parameter, is_template), .shown = shown};
  }
  const std::optional<std::string> expression =
      is_given || offer.is_constant(name) ? offer.expression(name) : std::nullopt;
  if (expression) {
    return Value{.cpp = *expression, .shown = shown};
  }
  static const Pattern kThreads("(num_|n_|n)?threads");
  if (has_word(parameter.type, offer.family.name + "_args")) {
    return Value{.cpp = parameter.type.ends_with('*') ? "&a" : "a", .shown = offer.family.name + "_args"};
  }
  if (has_word(parameter.type, "cudaStream_t")) {
    return Value{.cpp = "static_cast<cudaStream_t>(call->stream)", .shown = "stream"};
  }
  if (offer.variant.target == Target::host && kThreads.matches(name) && is_kind(parameter.type, "int")) {
    return Value{.cpp = "call->threads", .shown = name};
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- the parameters of one function

struct Match {
  std::vector<Value> values;
  int named = 0;        // parameters that have a value by their names
  std::string problem;  // why there is no call
};

Match match_names(const Offer& offer, const FunctionText& function) {
  Match match;
  std::string passed;
  bool has_all = false;  // by the struct
  for (const Parameter& parameter : function.parameters) {
    const std::optional<Value> value = named_value(offer, parameter, function.is_template);
    if (value) {
      match.values.push_back(*value);
      passed += " " + value->cpp;
      has_all = has_all || value->cpp == "a" || value->cpp == "&a";
      ++match.named;
    } else if (!parameter.optional && match.problem.empty()) {
      const bool is_integer = kind_of(parameter.type) == Kind::integer;
      match.problem = fmt::format("nothing fits its parameter '{}'; say what it gets: '// apo:function {} {}={}'{}",
                                  parameter.text, function.name, parameter.name, is_integer ? "EXPRESSION" : "NAME",
                                  is_integer ? fmt::format(", or '// apo:tune {} VALUE'", parameter.name) : "");
    }
  }
  for (const TensorSpec& tensor : offer.family.tensors) {
    if (tensor.role == Role::output && match.problem.empty() && !has_all && !has_word(passed, "a." + tensor.name)) {
      match.problem = fmt::format("no parameter of it is the output '{}'", tensor.name);
    }
  }
  for (const auto& [name, value] : offer.variant.arguments) {
    if (name != kSetup && std::ranges::find(function.parameters, name, &Parameter::name) == function.parameters.end()) {
      match.problem = fmt::format("it has no parameter '{}', which its apo:function line names", name);
    }
  }
  return match;
}

// The contract's own order, where no name of the contract stands in another place.
Match match_order(const Offer& offer, const FunctionText& function) {
  const bool cuda = offer.variant.target == Target::cuda;
  std::vector<ArgumentField> wanted = offer.fields;
  if (function.parameters.size() == wanted.size() + 1) {
    wanted.push_back({.type = cuda ? "cudaStream_t" : "int", .name = "", .comment = ""});
  }
  if (function.parameters.size() != wanted.size()) {
    return {.problem = fmt::format("its parameters are {}, and the contract has {}", function.parameters.size(),
                                   wanted.size())};
  }
  Match match;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    const ArgumentField& field = wanted[i];
    const bool writes_input = field.type.starts_with("const ") && kind_of(parameter.type) == Kind::pointer &&
                              !has_word(parameter.type, "const");
    const bool is_other = parameter.name != field.name && offer.field(parameter.name) != nullptr;
    if (!is_kind(parameter.type, field.type) || writes_input || is_other) {
      return {.problem = fmt::format("its parameter '{}' stands where the contract has '{} {}'", parameter.text,
                                     field.type, field.name)};
    }
    const std::string more = cuda ? "static_cast<cudaStream_t>(call->stream)" : "call->threads";
    match.values.push_back({.cpp = field.name.empty() ? more : field_value(field, parameter, function.is_template),
                            .shown = parameter.name == field.name || field.name.empty()
                                         ? parameter.name
                                         : parameter.name + "=" + field.name});
  }
  return match;
}

Match match_function(const Offer& offer, const FunctionText& function) {
  Match named = match_names(offer, function);
  if (named.problem.empty() || !offer.variant.arguments.empty()) {
    return named;
  }
  Match ordered = match_order(offer, function);
  return ordered.problem.empty() || named.named == 0 ? ordered : named;
}

// ---------------------------------------------------------------- which function

struct Choice {
  const FileFunction* function = nullptr;
  Match match;
};

// "softmax" of "mine::softmax<32>"
std::string plain_part(const std::string& function) {
  const std::string name = function.substr(0, function.find('<'));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

Choice choose_named(const Offer& offer, const std::vector<FileFunction>& all, const std::string& name) {
  Choice choice;
  for (const FileFunction& one : all) {
    if (one.function.name == name && (choice.function == nullptr || !choice.match.problem.empty())) {
      choice = {.function = &one, .match = match_function(offer, one.function)};
    }
  }
  return choice;
}

std::vector<Choice> choose_fitting(const Offer& offer, const std::vector<FileFunction>& all) {
  std::vector<Choice> fitting;
  for (const FileFunction& one : all) {
    if (Match match = match_names(offer, one.function); match.problem.empty()) {
      fitting.push_back({.function = &one, .match = std::move(match)});
    }
  }
  return fitting;
}

std::string names_of(const std::vector<FileFunction>& all) {
  std::vector<std::string> names;
  for (const FileFunction& one : all) {
    const bool is_new = std::ranges::find(names, one.function.name) == names.end();
    if (is_new && one.is_own && one.function.name != "main") {
      names.push_back(one.function.name);
    }
  }
  return join(names, ", ");
}

// `problem` is set where there is none.
Choice choose(const Offer& offer, const std::vector<FileFunction>& all, std::string& problem) {
  const Variant& variant = offer.variant;
  const std::string file = variant.path.empty() ? source_name(variant) : variant.path;
  if (!variant.function.empty()) {
    Choice named = choose_named(offer, all, plain_part(variant.function));
    if (named.function == nullptr) {
      problem =
          fmt::format("{}:1: there is no host function '{}'; the file has: {}", file, variant.function, names_of(all));
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
  const std::string own = names_of(all);
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

std::string source_of(const Offer& offer, const std::string& call) {
  const std::string name = plain_name(offer.variant);
  return fmt::format("// {} - calls the code of {}.\n#include \"{}\"\n#include \"{}\"\n{}", name, offer.variant.id(),
                     args_header_name(offer.family), source_name(offer.variant), call);
}

std::string call_of(const Offer& offer, const std::string& function, const Match& match) {
  std::vector<std::string> arguments;
  for (const Value& value : match.values) {
    arguments.push_back(value.cpp);
  }
  const auto setup = offer.variant.arguments.find(kSetup);
  const bool cuda = offer.variant.target == Target::cuda;
  return fmt::format(fmt::runtime(kCall), fmt::arg("family", offer.family.name), fmt::arg("function", function),
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
  const Offer offer{.family = family, .variant = variant, .fields = argument_fields(family, variant)};
  PlainCall call{.source = {.name = plain_name(variant), .text = source_of(offer, ""), .path = ""}};
  if (variant.function.empty() && exports_abi(variant)) {
    return call;
  }
  const std::vector<FileFunction> all = functions_of(variant);
  const Choice choice = choose(offer, all, call.problem);
  if (choice.function == nullptr) {
    return call;
  }
  const FunctionText& function = choice.function->function;
  call.function = variant.function.empty() ? function.name : variant.function;
  call.place = choice.function->place;
  call.sides = fmt::format("the function:  {}\nthe contract:  {}\n", function.signature(),
                           plain_signature(family, variant).substr(std::string_view("void ").size()));
  if (call.problem.empty() && !choice.match.problem.empty()) {
    call.problem = fmt::format("{}: {} cannot be called: {}", call.place, function.name, choice.match.problem);
  }
  std::vector<std::string> shown;
  for (const Value& value : choice.match.values) {
    shown.push_back(value.shown);
  }
  call.text = call.function + "(" + join(shown, ", ") + ")";
  call.source.text = source_of(offer, call_of(offer, call.function, choice.match));
  return call;
}

void explain_call(CompileStep& step, const PlainCall& call) {
  if (step.ok || step.timed_out || call.function.empty() || !step.evidence.starts_with(call.source.name)) {
    return;
  }
  const std::size_t words = step.evidence.find("error: ");
  step.evidence = fmt::format("{}: {} cannot be called as {}: {}", call.place, call.function, call.text,
                              words == std::string::npos ? step.evidence : step.evidence.substr(words + 7));
  step.log = call.sides;
}

}  // namespace apo
