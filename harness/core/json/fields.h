// harness/core/json/fields.h - a record lists its members once; what sends, fills or compares it visits that list.
//
//   struct Roof { std::string name; double value; };
//   APO_FIELDS(Roof, name, value)
//
// visit_fields(roof, visitor) calls visitor("name", roof.name), visitor("value", roof.value). The list is complete and
// in order by construction: it is a structured binding of the whole record.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

namespace apo {

template <class Record, class Plain>
concept RecordOf = std::same_as<std::remove_const_t<Record>, Plain>;

// Calls visitor(name, member) for each member. `names` is "first, second, third".
template <class Visitor, class... Members>
void visit_members(std::string_view names, const Visitor& visitor, Members&... members) {
  const auto next_name = [&names] {
    const std::size_t end = names.find(',');
    const std::string_view name = names.substr(0, end);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 2);
    return name;
  };
  (visitor(next_name(), members), ...);
}

// APO_MEMBERS(a, b.c) is record.a, record.b.c for up to 64 members.
#define APO_PARENTHESES ()
#define APO_SCAN(...) APO_SCAN_16(APO_SCAN_16(APO_SCAN_16(APO_SCAN_16(__VA_ARGS__))))
#define APO_SCAN_16(...) APO_SCAN_4(APO_SCAN_4(APO_SCAN_4(APO_SCAN_4(__VA_ARGS__))))
#define APO_SCAN_4(...) APO_SCAN_1(APO_SCAN_1(APO_SCAN_1(APO_SCAN_1(__VA_ARGS__))))
#define APO_SCAN_1(...) __VA_ARGS__
#define APO_NEXT_MEMBER(member, ...) record.member __VA_OPT__(, APO_NEXT_AGAIN APO_PARENTHESES(__VA_ARGS__))
#define APO_NEXT_AGAIN() APO_NEXT_MEMBER
#define APO_MEMBERS(...) APO_SCAN(APO_NEXT_MEMBER(__VA_ARGS__))

// Stands behind the record, in its namespace.
#define APO_FIELDS(Record, ...)                                    \
  template <apo::RecordOf<Record> Whole, class Visitor>            \
  void visit_fields(Whole& whole_record, const Visitor& visitor) { \
    auto& [__VA_ARGS__] = whole_record;                            \
    apo::visit_members(#__VA_ARGS__, visitor, __VA_ARGS__);        \
  }

// Many of these are written at once: without the names of their members.
template <class Record>
inline constexpr bool kIsRow = false;

// An empty record lists nothing.
template <class Record, class Visitor>
requires std::is_empty_v<Record>
void visit_fields(Record&, const Visitor&) {}

struct IgnoreField {
  void operator()(std::string_view, const auto&) const {}
};

template <class T>
concept WithFields = requires(T& record) {
  visit_fields(record, IgnoreField{});
};

}  // namespace apo
