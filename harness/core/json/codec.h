// harness/core/json/codec.h - records, and what they are made of, as JSON and back, by their lists of fields.
//
// A record is an object with the names of its members; one marked by kIsRow is an array of its members.
// A number that is not finite and an absent optional are null. An enum is its word, and a variant [index, value].
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/words.h"

namespace apo {

// Names the field that is missing or of another form: "policy.seed is no whole number in its range".
class BadField : public std::runtime_error {
 public:
  BadField(std::string path, const std::string& what) : runtime_error(path + " " + what), path_(std::move(path)) {}
  BadField within(std::string_view outer) const {
    const std::string what = std::string(this->what()).substr(path_.size() + 1);
    return {path_.empty() ? std::string(outer) : std::string(outer) + "." + path_, what};
  }

 private:
  std::string path_;
};

template <class T>
nlohmann::ordered_json json_of(const T& value);
// Fields that the record does not have are ignored. Throws BadField.
template <class T>
void read_json(const nlohmann::ordered_json& json, T& value);

template <class T>
T from_json_text(std::string_view text) {
  T value;
  read_json(nlohmann::ordered_json::parse(text), value);
  return value;
}

// Text from elsewhere may hold anything: what is not UTF-8 is replaced, never thrown about.
template <class T>
std::string json_text(const T& value) {
  return json_of(value).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace json_codec {

using Json = nlohmann::ordered_json;

template <class T, template <class...> class Template>
inline constexpr bool kIs = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool kIs<Template<Arguments...>, Template> = true;
template <class T>
inline constexpr bool kIsList = kIs<T, std::vector>;
template <class T, std::size_t Size>
inline constexpr bool kIsList<std::array<T, Size>> = true;

inline void require(bool holds, const char* what) {
  if (!holds) {
    throw BadField("", what);
  }
}

template <class Integer>
void read_integer(const Json& json, Integer& value) {
  constexpr const char* kNone = "is no whole number in its range";
  require(json.is_number_integer(), kNone);
  if (json.is_number_unsigned()) {
    require(std::in_range<Integer>(json.get<std::uint64_t>()), kNone);
  } else {
    require(std::in_range<Integer>(json.get<std::int64_t>()), kNone);
  }
  value = json.get<Integer>();
}

template <class Record>
Json record_to_json(const Record& record) {
  Json json = kIsRow<Record> ? Json::array() : Json::object();
  visit_fields(record, [&](std::string_view name, const auto& member) {
    if constexpr (kIsRow<Record>) {
      json.push_back(json_of(member));
    } else {
      json[std::string(name)] = json_of(member);
    }
  });
  return json;
}

template <class Record>
void read_record(const Json& json, Record& record) {
  require(kIsRow<Record> ? json.is_array() : json.is_object(), "is no record");
  std::size_t position = 0;
  visit_fields(record, [&](std::string_view name, auto& member) {
    try {
      if constexpr (kIsRow<Record>) {
        require(position < json.size(), "is missing");
        read_json(json[position++], member);
      } else {
        const auto found = json.find(name);
        require(found != json.end(), "is missing");
        read_json(*found, member);
      }
    } catch (const BadField& error) {
      throw error.within(name);
    }
  });
}

template <class List>
void read_list(const Json& json, List& list) {
  require(json.is_array(), "is no list");
  if constexpr (kIs<List, std::vector>) {
    list.resize(json.size());
  }
  require(json.size() == list.size(), "has another length");
  for (std::size_t i = 0; i < list.size(); ++i) {
    read_json(json[i], list[i]);
  }
}

template <class Map>
void read_map(const Json& json, Map& map) {
  require(json.is_object(), "is no object");
  map.clear();
  for (const auto& [key, value] : json.items()) {
    read_json(value, map[key]);
  }
}

template <class Variant, std::size_t... Indices>
void read_variant(const Json& json, Variant& variant, std::index_sequence<Indices...>) {
  std::size_t index = 0;
  require(json.is_array() && json.size() == 2, "is no variant");
  read_integer(json[0], index);
  require(index < sizeof...(Indices), "is an unknown variant");
  ((index == Indices ? read_json(json[1], variant.template emplace<Indices>()) : void()), ...);
}

}  // namespace json_codec

template <class T>
nlohmann::ordered_json json_of(const T& value) {
  if constexpr (WithFields<T>) {
    return json_codec::record_to_json(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? json_codec::Json(value) : json_codec::Json(nullptr);
  } else if constexpr (json_codec::kIs<T, std::optional>) {
    return value ? json_of(*value) : json_codec::Json(nullptr);
  } else if constexpr (json_codec::kIs<T, std::variant>) {
    return json_codec::Json::array({value.index(), std::visit([](const auto& one) { return json_of(one); }, value)});
  } else if constexpr (json_codec::kIsList<T>) {
    json_codec::Json list = json_codec::Json::array();
    for (const auto& one : value) {
      list.push_back(json_of(one));
    }
    return list;
  } else if constexpr (json_codec::kIs<T, std::map>) {
    json_codec::Json object = json_codec::Json::object();
    for (const auto& [key, one] : value) {
      object[key] = json_of(one);
    }
    return object;
  } else {
    return value;
  }
}

template <class T>
void read_json(const nlohmann::ordered_json& json, T& value) {
  using json_codec::require;
  if constexpr (WithFields<T>) {
    json_codec::read_record(json, value);
  } else if constexpr (std::is_enum_v<T>) {
    require(json.is_string(), "is no word");
    const auto named = value_named<T>(json.get_ref<const std::string&>());
    require(named.has_value(), "is an unknown word");
    value = *named;
  } else if constexpr (std::is_same_v<T, bool>) {
    require(json.is_boolean(), "is neither true nor false");
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    json_codec::read_integer(json, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    require(json.is_number() || json.is_null(), "is no number");
    value = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.get<T>();
  } else if constexpr (json_codec::kIs<T, std::optional>) {
    if (json.is_null()) {
      value.reset();
    } else {
      read_json(json, value.emplace());
    }
  } else if constexpr (json_codec::kIs<T, std::variant>) {
    json_codec::read_variant(json, value, std::make_index_sequence<std::variant_size_v<T>>());
  } else if constexpr (json_codec::kIsList<T>) {
    json_codec::read_list(json, value);
  } else if constexpr (json_codec::kIs<T, std::map>) {
    json_codec::read_map(json, value);
  } else {
    require(json.is_string(), "is no text");
    value = json.template get<std::string>();
  }
}

}  // namespace apo
