// harness/mcp/protocol/schema_check.cpp - one function a keyword.
#include "harness/mcp/protocol/schema_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"

namespace apo::mcp {
namespace {

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "integer") {
    return value.is_number_integer();
  }
  if (type == "number") {
    return value.is_number();
  }
  return type == (value.is_boolean() ? "boolean" : value.type_name());
}

std::vector<std::string> types_of(const Json& schema) {
  const Json type = schema.value("type", Json::array());
  return type.is_string() ? std::vector<std::string>{type.get<std::string>()} : type.get<std::vector<std::string>>();
}

std::string type_fault(const Json& value, const Json& schema, const std::string& where) {
  const std::vector<std::string> types = types_of(schema);
  const bool fits =
      types.empty() || std::ranges::any_of(types, [&](const auto& type) { return is_of_type(value, type); });
  return fits ? "" : fmt::format("{} must be of type {}", where, join(types, " or "));
}

std::string word_fault(const Json& value, const Json& schema, const std::string& where) {
  if (!schema.contains("enum") || std::ranges::find(schema["enum"], value) != schema["enum"].end()) {
    return "";
  }
  std::vector<std::string> known;
  for (const Json& word : schema["enum"]) {
    known.push_back(word.is_string() ? word.get<std::string>() : line_of(word));
  }
  return fmt::format("{} must be one of: {}", where, join(known, ", "));
}

std::string number_fault(const Json& value, const Json& schema, const std::string& where) {
  if (!value.is_number()) {
    return "";
  }
  const double number = value.get<double>();
  if (schema.contains("minimum") && number < schema["minimum"].get<double>()) {
    return fmt::format("{} must be at least {}", where, line_of(schema["minimum"]));
  }
  if (schema.contains("maximum") && number > schema["maximum"].get<double>()) {
    return fmt::format("{} must be at most {}", where, line_of(schema["maximum"]));
  }
  return "";
}

std::string length_fault(const Json& value, const Json& schema, const std::string& where) {
  const bool empty = value.is_string() && value.get_ref<const std::string&>().empty();
  return empty && schema.value("minLength", 0) > 0 ? where + " must not be empty" : "";
}

std::string list_fault(const Json& value, const Json& schema, const std::string& where) {
  if (!value.is_array()) {
    return "";
  }
  if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<std::size_t>()) {
    return fmt::format("{} must have at most {} items", where, line_of(schema["maxItems"]));
  }
  for (std::size_t i = 0; schema.contains("items") && i < value.size(); ++i) {
    if (std::string fault = schema_fault(value[i], schema["items"], fmt::format("item {} of {}", i, where));
        !fault.empty()) {
      return fault;
    }
  }
  return "";
}

std::string unknown_key_fault(const std::string& key, const Json& properties, const std::string& where) {
  std::vector<std::string> known;
  for (const auto& [name, schema] : properties.items()) {
    known.push_back(name);
  }
  const std::string guess = did_you_mean(key, known);
  return fmt::format("{}unknown argument '{}'{}; known: {}", where.empty() ? "" : where + ": ", key,
                     guess.empty() ? "" : ", " + guess, known.empty() ? "none" : join(known, ", "));
}

std::string object_fault(const Json& value, const Json& schema, const std::string& where) {
  if (!value.is_object()) {
    return "";
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, item] : value.items()) {
    if (properties.contains(key)) {
      if (std::string fault = schema_fault(item, properties[key], fmt::format("'{}'", key)); !fault.empty()) {
        return fault;
      }
    } else if (schema.value("additionalProperties", true) == false) {
      return unknown_key_fault(key, properties, where);
    }
  }
  for (const Json& key : schema.value("required", Json::array())) {
    if (!value.contains(key.get<std::string>())) {
      return fmt::format("'{}' is missing", key.get<std::string>());
    }
  }
  return "";
}

}  // namespace

std::string schema_fault(const Json& value, const Json& schema, const std::string& where) {
  const std::string named = where.empty() ? "the value" : where;
  for (const auto& check : {type_fault, word_fault, number_fault, length_fault, list_fault}) {
    if (std::string fault = check(value, schema, named); !fault.empty()) {
      return fault;
    }
  }
  return object_fault(value, schema, where);
}

}  // namespace apo::mcp
