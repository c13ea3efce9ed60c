// harness/cli/bring/hand_kept_text.cpp - groups rows by what they are about.
#include "harness/cli/bring/hand_kept_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/cli/console.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

// "12.37 -> 12.90 ms (line 826, reverted, superseded by line 1150)"
std::string row_text(const HandKeptRow& row) {
  std::string text = fmt::format("line {}", row.line);
  if (row.verdict) {
    text += ", " + std::string(to_string(*row.verdict));
  }
  if (row.superseded_by != 0) {
    text += fmt::format(", superseded by line {}", row.superseded_by);
  }
  const std::string finding = finding_of(row);
  return finding.empty() ? text : fmt::format("{} ({})", finding, text);
}

std::string title_of(const HandKeptRow& row) {
  const bool said = row.scope != HandKeptScope::unsaid;
  const std::string scope = std::string(to_string(said ? row.scope : row.predicted_scope));
  return fmt::format("{}{}: {}", row.subject, scope.empty() ? "" : ", " + scope, join(row.techniques, " + "));
}

Json or_null(bool said, Json value) {
  return said ? std::move(value) : Json(nullptr);
}

Json band_document(const std::optional<StatedBand>& effect) {
  return effect ? Json{std::exp(effect->low), std::exp(effect->high)} : Json(nullptr);
}

Json row_document(const HandKeptJournal& journal, const HandKeptRow& row) {
  return {{"document", journal.title},
          {"line", row.line},
          {"date", row.date},
          {"device_claimed", row.device_claimed},
          {"device_deduced", row.device_deduced},
          {"target", row.target ? Json(to_string(*row.target)) : Json(nullptr)},
          {"scope", to_string(row.scope)},
          {"subject", row.subject},
          {"axes", row.axes},
          {"techniques", row.techniques},
          {"joint", row.joint},
          {"baseline", row.baseline},
          {"quantity", to_string(row.quantity)},
          {"finding", finding_of(row)},
          {"measured_speedup", band_document(measured_effect(row))},
          {"predicted_speedup", band_document(predicted_effect(row))},
          {"predicted_scope", to_string(row.predicted_scope)},
          {"samples", or_null(row.samples > 0, row.samples)},
          {"warm_up", row.warm_up},
          {"verdict", row.verdict ? Json(to_string(*row.verdict)) : Json(nullptr)},
          {"in_code", row.in_code ? Json(*row.in_code) : Json(nullptr)},
          {"superseded_by", or_null(row.superseded_by > 0, row.superseded_by)},
          {"note", row.note}};
}

}  // namespace

std::vector<HandKeptJournal> only_rows(std::vector<HandKeptJournal> journals,
                                       const std::function<bool(const HandKeptRow&)>& wanted) {
  for (HandKeptJournal& journal : journals) {
    std::erase_if(journal.rows, [&](const HandKeptRow& row) { return !wanted(row); });
  }
  std::erase_if(journals, [](const HandKeptJournal& journal) { return journal.rows.empty(); });
  return journals;
}

std::string hand_kept_text(const std::vector<HandKeptJournal>& journals) {
  std::string text;
  for (const HandKeptJournal& journal : journals) {
    std::vector<std::string> titles;
    std::map<std::string, std::vector<std::string>> findings;
    for (const HandKeptRow& row : journal.rows) {
      const std::string title = title_of(row);
      if (!findings.contains(title)) {
        titles.push_back(title);
      }
      findings[title].push_back(row_text(row));
    }
    text +=
        (text.empty() ? "" : "\n") +
        paint(journal.title + ", kept by hand: nothing of it was judged here, and none of it has an interval", "bold") +
        "\n";
    for (const std::string& title : titles) {
      text += fmt::format("  weigh  {}\n         {}\n", title, one_line(join(findings.at(title), "; ")));
    }
  }
  return text;
}

std::string contradictions_text(const std::vector<Contradiction>& contradictions) {
  std::string text = contradictions.empty() ? "" : paint("hand-kept journals contradict themselves", "bold") + "\n";
  for (const Contradiction& one : contradictions) {
    text += "  " + one_line(one.sentence) + "\n";
  }
  return text;
}

Json hand_kept_documents(const std::vector<HandKeptJournal>& journals) {
  Json documents = Json::array();
  for (const HandKeptJournal& journal : journals) {
    for (const HandKeptRow& row : journal.rows) {
      documents.push_back(row_document(journal, row));
    }
  }
  return documents;
}

Json to_documents(const std::vector<Contradiction>& contradictions) {
  Json documents = Json::array();
  for (const Contradiction& one : contradictions) {
    documents.push_back({{"kind", to_string(one.kind)}, {"sentence", one.sentence}, {"lines", one.lines}});
  }
  return documents;
}

}  // namespace apo
