// harness/cli/look/query.cpp - `apo query`: finds past experiments, and what they taught, by predicates or read-only
// SQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/look/lessons.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/unfinished.h"
#include "journal/journal.h"
#include "journal/query/queries.h"
#include "reports/formats/escape.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct QueryOptions {
  std::vector<std::string> predicates;
  std::string sql;
  std::string columns;
  std::string sort;
  std::string limit;
  bool csv = false;
  bool lessons = false;
};

std::string readable(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    const bool whole = std::abs(*real) >= 1e5 && std::abs(*real) < 1e15;  // five digits would need an exponent
    return whole ? std::to_string(std::llround(*real)) : format_g(*real, 5);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "-" : one_line(*text);
}

std::string csv_cell(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return report::csv_field(*real);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : report::csv_field(*text);
}

Json json_cell(const Cell& cell) {
  const auto of = [](const auto& value) -> Json {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
      return nullptr;
    } else {
      return value;
    }
  };
  return std::visit(of, cell);
}

std::string to_text(const Table& table) {
  std::vector<std::vector<std::string>> rows = {table.columns};
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (const Cell& cell : row) {
      rows.back().push_back(readable(cell));
    }
  }
  return format_table(rows);
}

// RFC 4180.
std::string to_csv(const Table& table) {
  std::vector<std::string> header;
  for (const std::string& name : table.columns) {
    header.push_back(report::csv_field(name));
  }
  std::string text = join(header, ",") + "\r\n";
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    for (const Cell& cell : row) {
      fields.push_back(csv_cell(cell));
    }
    text += join(fields, ",") + "\r\n";
  }
  return text;
}

// Rows as lists: SQL may give two columns the same name.
Json to_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) {
      cells.push_back(json_cell(cell));
    }
    rows.push_back(std::move(cells));
  }
  return {{"columns", table.columns}, {"rows", rows}, {"more", table.more}};
}

std::vector<std::string> all_words(const QueryOptions& options) {
  std::vector<std::string> words = options.predicates;
  if (!options.sort.empty()) {
    words.push_back("sort=" + options.sort);
  }
  if (!options.columns.empty()) {
    words.push_back("columns=" + options.columns);
  }
  if (!options.limit.empty()) {
    words.push_back("limit=" + options.limit);
  }
  return words;
}

Table find(const QueryOptions& options, const Paths& paths) {
  const std::vector<std::string> words = all_words(options);
  if (!options.sql.empty() && !words.empty()) {
    throw UserError("--sql and '" + words.front() + "' were both given",
                    "write the condition, the order and the limit in the SQL");
  }
  // Parsed first: a typing mistake is told without a journal too.
  const Query query = options.sql.empty() ? parse_query(words) : Query{};
  Journal journal = Journal::open(paths.journal, Access::read_only);
  return options.sql.empty() ? run_query(journal, query) : run_sql(paths.journal, options.sql);
}

// What a journal may hold besides experiments, and the command that shows it.
struct Holding {
  const char* what;
  const char* count;
  const char* command;
};
constexpr std::array kHoldings = {
    Holding{"comparisons of commands", "SELECT count(*) FROM command_comparisons",
            "the view command_comparisons of apo query --sql, and apo report --commands"},
    Holding{"comparisons by an application", "SELECT count(*) FROM application_comparisons",
            "the view application_comparisons of apo query --sql, and apo show c1, and so on"},
    Holding{"comparisons of selftests", "SELECT count(*) FROM selftest_comparison",
            "the view selftest_totals of apo query --sql"},
    Holding{"profiles", "SELECT count(*) FROM profile", "the view profiles of apo query --sql"},
};

std::int64_t count_of(const Paths& paths, const std::string& sql) {
  return std::get<std::int64_t>(run_sql(paths.journal, sql).rows.front().front());
}

// Where there is no experiment at all; else an empty answer is the predicates' matter.
std::string other_holdings(const Paths& paths) {
  if (count_of(paths, "SELECT count(*) FROM experiment") > 0) {
    return "";
  }
  std::string text = "the journal has no experiments";
  for (const Holding& holding : kHoldings) {
    if (const std::int64_t count = count_of(paths, holding.count); count > 0) {
      text += fmt::format("\n{}: {} ({})", holding.what, count, holding.command);
    }
  }
  return text + "\n";
}

// The state 'running' is also that of an experiment whose process was killed.
std::string interrupted_text(const Paths& paths) {
  std::vector<std::string> numbers;
  Journal journal = Journal::open(paths.journal, Access::read_only);
  for (const Unfinished& one : interrupted_experiments(journal)) {
    numbers.push_back(std::to_string(one.id));
  }
  return numbers.empty() ? ""
                         : fmt::format(
                               "running no longer, but interrupted: {}; the next command that judges marks "
                               "this in the journal\n",
                               join(numbers, ", "));
}

bool has_cell(const Table& table, std::string_view text) {
  return std::ranges::any_of(table.rows, [&](const std::vector<Cell>& row) {
    return std::ranges::any_of(row, [&](const Cell& cell) {
      const auto* word = std::get_if<std::string>(&cell);
      return word != nullptr && *word == text;
    });
  });
}

std::string remarks_on(const QueryOptions& options, const Table& table, const Paths& paths) {
  std::string text = fmt::format("{} row{}{}\n", table.rows.size(), table.rows.size() == 1 ? "" : "s",
                                 !table.more           ? ""
                                 : options.sql.empty() ? "; there are more, see --limit"
                                                       : "; there are more, which the limit of SQL results cut off");
  const bool of_experiments = options.sql.empty();
  if (of_experiments && table.rows.empty()) {
    text += other_holdings(paths);
  }
  return text + (of_experiments && has_cell(table, "running") ? interrupted_text(paths) : "");
}

int query(const QueryOptions& options, const Globals& globals) {
  if (options.csv && globals.json) {
    throw UserError("--csv and --json were both given", "choose one");
  }
  if (options.lessons) {
    std::vector<std::string> words = all_words(options);
    words.insert(words.begin(), "limit=0");
    return show_lessons(parse_query(words), globals);
  }
  const Paths paths = make_paths(globals.journal);
  const Table table = find(options, paths);
  print_answer(globals, to_json(table), options.csv ? to_csv(table) : to_text(table));
  if (!globals.quiet && !globals.json) {
    std::fputs(remarks_on(options, table, paths).c_str(), stderr);
  }
  return kDone;
}

std::string help_on_keys() {
  std::vector<std::vector<std::string>> rows;
  for (const QueryKey& key : query_keys()) {
    const char* type = key.type == ColumnType::integer ? "integer" : key.type == ColumnType::real ? "number" : "text";
    rows.push_back({"  " + std::string(key.name), type, std::string(key.meaning)});
  }
  return "A predicate is KEY, an operator and a value; commas separate alternatives:\n"
         "  =  !=  <  <=  >  >=  and ~ (contains, ignoring case)\n"
         "Keys:\n" +
         format_table(rows) +
         "Examples:\n"
         "  apo query verdict=accepted 'speedup>1.05' --sort -speedup\n"
         "  apo query technique=padded-cache,fused-dk since=2026-01-01 --columns id,candidate,speedup --csv\n"
         "  apo query --lessons family=copy technique=adaptive-threads\n"
         "  apo query bottleneck_kind=cause bottleneck_file=simple.cu columns=id,candidate,bottleneck,bottleneck_line\n"
         "  apo query --sql 'SELECT verdict, count(*) FROM experiments GROUP BY verdict'\n"
         "  apo query --sql 'SELECT * FROM profiles' (what was profiled), 'SELECT * FROM command_comparisons'\n"
         "A hundred thousand experiments are answered in about a tenth of a second. SQL stops after 10 s.";
}

}  // namespace

Action define_query(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<QueryOptions>();
  app.add_option("predicates", options->predicates, "conditions, all of which an experiment has to meet");
  auto* lessons =
      app.add_flag("--lessons", options->lessons, "print what the experiments taught, and whether it still holds");
  exclude(lessons, {app.add_option("--sql", options->sql, "run one SELECT over the journal's tables and views instead"),
                    app.add_option("--columns", options->columns, "columns to show, separated by commas"),
                    app.add_flag("--csv", options->csv, "print CSV (RFC 4180)")});
  app.add_option("--sort", options->sort, "keys to sort by, separated by commas; -KEY sorts descending");
  app.add_option("--limit", options->limit,
                 "print at most this many rows, 0 for all (default: 50; with --lessons all)");
  app.footer(help_on_keys);
  return [options, &globals] { return query(*options, globals); };
}

}  // namespace apo
