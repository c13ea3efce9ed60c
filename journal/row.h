// journal/row.h - writes and reads rows by the list of those members of a record that are columns: columns.h has the
// lists.
//
//   APO_COLUMNS(Toolchain, compiler, version)
//   APO_COLUMNS_AS(Machine, "key, model", id, model)  // the columns have other names
//
// A name may also be an expression, "(SELECT ...)" without a comma or "table.column". That is read and never written,
// like the column id, which SQLite draws.
//
// insert_row(self, "metric", metric, {{"profile", id}}) adds columns that the record does not have, or has in another
// form. read_rows<Metric>(self, "metric WHERE profile = ?", {id}) gives the records back.
#pragma once

#include <algorithm>
#include <deque>

#include "harness/core/json/fields.h"
#include "harness/core/words.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {

// APO_MEMBERS(a, b.c) is record.a, record.b.c for up to 64 members.
#define APO_PARENTHESES ()
#define APO_SCAN(...) APO_SCAN_16(APO_SCAN_16(APO_SCAN_16(APO_SCAN_16(__VA_ARGS__))))
#define APO_SCAN_16(...) APO_SCAN_4(APO_SCAN_4(APO_SCAN_4(APO_SCAN_4(__VA_ARGS__))))
#define APO_SCAN_4(...) APO_SCAN_1(APO_SCAN_1(APO_SCAN_1(APO_SCAN_1(__VA_ARGS__))))
#define APO_SCAN_1(...) __VA_ARGS__
#define APO_NEXT_MEMBER(member, ...) record.member __VA_OPT__(, APO_NEXT_AGAIN APO_PARENTHESES(__VA_ARGS__))
#define APO_NEXT_AGAIN() APO_NEXT_MEMBER
#define APO_MEMBERS(...) APO_SCAN(APO_NEXT_MEMBER(__VA_ARGS__))

#define APO_COLUMNS_AS(Record, names, ...)                        \
  template <apo::RecordOf<Record> Whole, class Visitor>           \
  void visit_columns(Whole& record, const Visitor& visitor) {     \
    apo::visit_members(names, visitor, APO_MEMBERS(__VA_ARGS__)); \
  }
#define APO_COLUMNS(Record, ...) APO_COLUMNS_AS(Record, #__VA_ARGS__, __VA_ARGS__)

// "id, name", or "p.id, p.name" with the prefix "p.".
template <class Record>
std::string columns_of(std::string_view prefix = "") {
  std::string list;
  Record record{};
  visit_columns(record, [&](std::string_view name, const auto&) {
    list.append(list.empty() ? "" : ", ").append(prefix).append(name);
  });
  return list;
}

// The value of a column. `texts` keeps what is made for it alive.
template <class Member>
Value column_value(Journal::Implementation& self, const Member& member, std::deque<std::string>& texts) {
  if constexpr (std::is_enum_v<Member>) {
    return std::string_view(to_string(member));
  } else if constexpr (std::is_same_v<Member, Configuration>) {
    return self.configuration_row(member);
  } else if constexpr (requires { member.value(); }) {
    return member ? column_value(self, *member, texts) : Value(nullptr);
  } else if constexpr (std::is_constructible_v<Value, const Member&>) {
    return member;
  } else {
    return texts.emplace_back(encode(member));
  }
}

inline bool is_written(std::string_view column) {
  return column != "id" && column.find_first_of(".(") == std::string_view::npos;
}

template <class Record>
std::int64_t insert_row(Journal::Implementation& self, std::string_view table, const Record& record,
                        Columns columns = {}) {
  std::deque<std::string> texts;
  const std::size_t given = columns.size();
  visit_columns(record, [&](std::string_view name, const auto& member) {
    const auto end = columns.begin() + static_cast<std::ptrdiff_t>(given);
    if (is_written(name) &&
        std::none_of(columns.begin(), end, [&](const auto& column) { return column.first == name; })) {
      columns.emplace_back(name, column_value(self, member, texts));
    }
  });
  return self.database.insert_into(table, columns);
}

// In their order, from position 0; each with the columns of their owner.
template <class Record>
void insert_rows(Journal::Implementation& self, std::string_view table, const std::vector<Record>& records,
                 const Columns& owner) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    Columns columns = owner;
    columns.emplace_back("position", static_cast<std::int64_t>(i));
    if constexpr (std::is_same_v<Record, std::string>) {
      columns.emplace_back(table.substr(table.find('_') + 1), records[i]);
      self.database.insert_into(table, columns);
    } else {
      insert_row(self, table, records[i], std::move(columns));
    }
  }
}

// Takes the next column. NULL is NaN, 0, "" or an absent optional; the last is "" too.
template <class Member>
void read_column(Journal::Implementation& self, Statement& row, Member& member) {
  if constexpr (std::is_enum_v<Member>) {
    const std::string word = row.text();
    member = known(value_named<Member>(word), word);
  } else if constexpr (std::is_same_v<Member, Configuration>) {
    member = self.configuration(row.integer());
  } else if constexpr (std::is_same_v<Member, bool>) {
    member = row.boolean();
  } else if constexpr (std::is_integral_v<Member>) {
    member = static_cast<Member>(row.integer());
  } else if constexpr (std::is_same_v<Member, double>) {
    member = row.real();
  } else if constexpr (std::is_same_v<Member, std::string>) {
    member = row.text();
  } else if constexpr (requires { member.value(); }) {
    if (row.next_is_empty()) {
      row.text();
      member.reset();
    } else {
      read_column(self, row, member.emplace());
    }
  } else {
    decode(row.text(), member);
  }
}

// Takes as many columns as columns_of<Record>() names.
template <class Record>
void read_row(Journal::Implementation& self, Statement& row, Record& record) {
  visit_columns(record, [&](std::string_view, auto& member) { read_column(self, row, member); });
}

// `from` is a literal of ours: "metric WHERE profile = ? ORDER BY position".
template <class Record>
std::vector<Record> read_rows(Journal::Implementation& self, std::string_view from,
                              const std::vector<Value>& values = {}) {
  std::vector<Record> records;
  static const std::string columns = "SELECT " + columns_of<Record>() + " FROM ";
  Statement rows = self.database.query(columns + std::string(from), values);
  while (rows.step()) {
    read_row(self, rows, records.emplace_back());
  }
  return records;
}

template <class Record>
std::optional<Record> first_of(std::vector<Record> records) {
  return records.empty() ? std::nullopt : std::optional(std::move(records.front()));
}

}  // namespace apo
