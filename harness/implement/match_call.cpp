// harness/implement/match_call.cpp - by names, by the words of the apo:function line, by order.
#include "harness/implement/match_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/core/expression/expression.h"
#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

enum class ParameterKind : std::uint8_t { pointer, floating, integer, unknown };

ParameterKind kind_of(std::string_view type) {
  static const Pattern kFloating(R"(.*\b(float|double|half|__half|__nv_bfloat16)\b.*)");
  static const Pattern kInteger(R"(.*\b(int|long|short|unsigned|bool|size_t|uint|u?int(8|16|32|64)_t)\b.*)");
  return type.ends_with('*') || type.ends_with(']') ? ParameterKind::pointer
         : kFloating.matches(type)                  ? ParameterKind::floating
         : kInteger.matches(type)                   ? ParameterKind::integer
                                                    : ParameterKind::unknown;
}

bool is_kind(const std::string& type, const std::string& wanted) {
  const ParameterKind kind = kind_of(type);
  return kind == kind_of(wanted) || kind == ParameterKind::unknown;
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
  const std::string wanted = element_of(parameter.type);
  const bool is_deduced = is_template && kind_of(wanted) == ParameterKind::unknown;
  if (kind_of(field.type) != ParameterKind::pointer || is_deduced) {
    return value;
  }
  const bool same_long = is_long(wanted) && is_long(element_of(field.type));
  if (field.type == "void*" || same_long) {
    return fmt::format("({}){}", parameter.type, value);  // also away from const
  }
  const bool loses_const = field.type.starts_with("const ") && !has_word(parameter.type, "const");
  return loses_const ? fmt::format("const_cast<{}*>({})", element_of(field.type), value) : value;
}

const ArgumentField* find_field(const CallOffer& offer, const std::string& name) {
  const auto found = std::ranges::find(offer.fields, name, &ArgumentField::name);
  return found == offer.fields.end() ? nullptr : &*found;
}

bool is_constant(const CallOffer& offer, const std::string& name) {
  const std::vector<std::string> names = constant_names(offer.family, offer.variant);
  return std::ranges::find(names, name) != names.end();
}

// An expression over axes and constants, in C++; nullopt where it is none.
std::optional<std::string> expression_value(const CallOffer& offer, const std::string& text) {
  static const Pattern kLiteral(R"([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?f?|nullptr|true|false)");
  static const Pattern kCallsOne(R"(.*[A-Za-z0-9_]\s*\(.*)");
  std::vector<std::string> names = constant_names(offer.family, offer.variant);
  for (const AxisSpec& axis : offer.family.axes) {
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
    cpp += (find_field(offer, word) != nullptr ? "a." : "") + word;
    at += word.size();
  }
  return cpp;
}

// What the apo:function line or a name says; nullopt: nothing is called like it, or that is of another kind.
std::optional<PassedValue> named_value(const CallOffer& offer, const Parameter& parameter, bool is_template) {
  // Nothing else has these types, whatever the parameter is called: a tensor may be `a`.
  if (has_word(parameter.type, offer.family.name + "_args")) {
    return PassedValue{.cpp = parameter.type.ends_with('*') ? "&a" : "a", .shown = offer.family.name + "_args"};
  }
  if (has_word(parameter.type, "cudaStream_t")) {
    return PassedValue{.cpp = "static_cast<cudaStream_t>(call->stream)", .shown = "stream"};
  }
  const auto given = offer.variant.arguments.find(parameter.name);
  const bool is_given = given != offer.variant.arguments.end();
  const std::string& name = is_given ? given->second : parameter.name;
  const std::string shown = (is_given && name != parameter.name ? parameter.name + "=" : "") + name;
  if (const ArgumentField* field = find_field(offer, name); field != nullptr && is_kind(parameter.type, field->type)) {
    return PassedValue{.cpp = field_value(*field, parameter, is_template), .shown = shown};
  }
  const std::optional<std::string> expression =
      is_given || is_constant(offer, name) ? expression_value(offer, name) : std::nullopt;
  if (expression) {
    return PassedValue{.cpp = *expression, .shown = shown};
  }
  static const Pattern kThreads("(num_|n_|n)?threads");
  if (offer.variant.target == Target::host && kThreads.matches(name) && is_kind(parameter.type, "int")) {
    return PassedValue{.cpp = "call->threads", .shown = name};
  }
  return std::nullopt;
}

}  // namespace

CallMatch match_names(const CallOffer& offer, const FunctionText& function) {
  CallMatch match;
  std::string written;
  bool has_all = false;  // by the struct
  for (const Parameter& parameter : function.parameters) {
    const std::optional<PassedValue> value = named_value(offer, parameter, function.is_template);
    if (value) {
      match.values.push_back(*value);
      written += has_word(parameter.type, "const") ? "" : " " + value->cpp;
      has_all = has_all || value->cpp == "a" || value->cpp == "&a";
      ++match.named;
    } else if (has_all && offer.variant.target == Target::host && kind_of(parameter.type) == ParameterKind::integer) {
      match.values.push_back({.cpp = "call->threads", .shown = "threads"});
    } else if (parameter.optional) {
      break;  // it and those behind it keep their defaults
    } else if (match.problem.empty()) {
      const bool is_integer = kind_of(parameter.type) == ParameterKind::integer;
      match.problem = fmt::format(
          "nothing fits its parameter '{}'; say what it gets: '// apo:function {} {}={}'{}", parameter.text,
          function.name, parameter.name, is_integer ? "EXPRESSION" : "NAME",
          is_integer ? fmt::format(", or '// apo:tune {0} VALUE', which --line 'tune {0} VALUE' adds", parameter.name)
                     : "");
    }
  }
  for (const TensorSpec& tensor : offer.family.tensors) {
    if (tensor.role == Role::output && match.problem.empty() && !has_all && !has_word(written, "a." + tensor.name)) {
      match.problem = fmt::format("no parameter of it writes the output '{}'", tensor.name);
    }
  }
  for (const auto& [name, value] : offer.variant.arguments) {
    const auto found = std::ranges::find(function.parameters, name, &Parameter::name);
    const bool is_passed = found - function.parameters.begin() < std::ssize(match.values);
    if (name != kSetup && match.problem.empty() && !is_passed) {
      match.problem =
          fmt::format("it has no parameter '{}' that it is called with, and the apo:function line names one", name);
    }
  }
  return match;
}

namespace {

// The contract's own order, where no name of the contract stands in another place.
CallMatch match_order(const CallOffer& offer, const FunctionText& function) {
  const bool cuda = offer.variant.target == Target::cuda;
  std::vector<ArgumentField> wanted = offer.fields;
  if (function.parameters.size() == wanted.size() + 1) {
    wanted.push_back({.type = cuda ? "cudaStream_t" : "int", .name = "", .comment = ""});
  }
  if (function.parameters.size() != wanted.size()) {
    return {.problem = fmt::format("its parameters are {}, and the contract has {}", function.parameters.size(),
                                   wanted.size())};
  }
  CallMatch match;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    const ArgumentField& field = wanted[i];
    const bool writes_input = field.type.starts_with("const ") && kind_of(parameter.type) == ParameterKind::pointer &&
                              !has_word(parameter.type, "const");
    const bool is_other = parameter.name != field.name && find_field(offer, parameter.name) != nullptr;
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

}  // namespace

CallMatch match_function(const CallOffer& offer, const FunctionText& function) {
  CallMatch named = match_names(offer, function);
  if (named.problem.empty() || !offer.variant.arguments.empty()) {
    return named;
  }
  CallMatch ordered = match_order(offer, function);
  return ordered.problem.empty() || named.named == 0 ? ordered : named;
}

}  // namespace apo
