// tests/core/json/round_trip.h - every field of a record survives its way through JSON, and none may be missing.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "harness/core/json/codec.h"

namespace apo {

// Gives every field a value that is not its default and that no other field has, as far as its type allows.
template <class T>
void fill(T& value, int& next) {
  if constexpr (WithFields<T>) {
    visit_fields(value, [&](std::string_view, auto& member) { fill(member, next); });
  } else if constexpr (std::is_same_v<T, bool>) {
    value = !value;
  } else if constexpr (std::is_enum_v<T>) {
    value = value == static_cast<T>(1) ? static_cast<T>(0) : static_cast<T>(1);
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(++next + (std::is_floating_point_v<T> ? 0.1 : 0));
  } else if constexpr (json_codec::kIs<T, std::optional>) {
    fill(value.emplace(), next);
  } else if constexpr (json_codec::kIs<T, std::variant>) {
    std::visit([&](auto& one) { fill(one, next); }, value);
  } else if constexpr (json_codec::kIs<T, std::map>) {
    fill(value["one \""], next);
    fill(value["two"], next);
  } else if constexpr (json_codec::kIs<T, std::vector>) {
    value.resize(2);
    fill(value[0], next);
    fill(value[1], next);
  } else if constexpr (json_codec::kIsList<T>) {
    for (auto& one : value) {
      fill(one, next);
    }
  } else {
    value = "\"text\"\n\xc3\xa9 " + std::to_string(++next);
  }
}

template <class T>
T filled() {
  T value{};
  int next = 0;
  fill(value, next);
  return value;
}

template <class Record>
void expect_round_trip() {
  const auto record = filled<Record>();
  const std::string text = json_text(record);
  EXPECT_EQ(from_json_text<Record>(text), record) << text;
  const std::string empty = json_text(Record{});
  EXPECT_EQ(json_text(from_json_text<Record>(empty)), empty);
  const auto whole = json_of(record);
  for (const auto& [name, value] : whole.items()) {
    auto without = whole;
    if constexpr (kIsRow<Record>) {
      without.erase(whole.size() - 1);
    } else {
      without.erase(name);
    }
    Record read;
    EXPECT_THROW(read_json(without, read), BadField) << without;
  }
}

template <class... Records>
void expect_round_trips() {
  (expect_round_trip<Records>(), ...);
}

}  // namespace apo
