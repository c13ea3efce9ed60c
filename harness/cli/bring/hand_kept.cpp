// harness/cli/bring/hand_kept.cpp - `apo import journal`: puts journals that were kept by hand beside the judged rows.
#include "harness/cli/bring/hand_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/bring/hand_kept_text.h"
#include "harness/cli/console.h"
#include "harness/loop/exchange/hand_kept_table.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {
namespace {

struct Imported {
  HandKeptJournal table;
  bool known = false;  // the journal has this very text already
};

std::vector<Imported> keep(std::vector<HandKeptJournal> tables, Journal& journal) {
  const std::vector<HandKeptJournal> before = journal.hand_kept();
  std::vector<Imported> imported;
  Journal::Batch batch(journal);
  for (HandKeptJournal& table : tables) {
    const bool known = std::ranges::any_of(
        before, [&](const HandKeptJournal& one) { return one.title == table.title && one.sha256 == table.sha256; });
    if (!known) {
      journal.add_hand_kept(table);
    }
    imported.push_back({.table = std::move(table), .known = known});
  }
  batch.commit();
  return imported;
}

std::string summary_of(const Imported& one) {
  const auto count = [&](const auto& is) { return std::ranges::count_if(one.table.rows, is); };
  return fmt::format("{}: {} rows, {} measured changes and {} promises{}\n", one.table.title, one.table.rows.size(),
                     count([](const HandKeptRow& row) { return measured_effect(row).has_value(); }),
                     count([](const HandKeptRow& row) { return predicted_effect(row).has_value(); }),
                     one.known ? "; it was there already" : "");
}

}  // namespace

int import_hand_kept(const std::vector<std::string>& files, const Globals& globals) {
  std::vector<HandKeptJournal> tables;
  for (const std::string& file : files) {
    tables.push_back(read_hand_kept(file));
  }
  Workspace workspace(make_paths(globals.journal));
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  const std::vector<Imported> imported = keep(std::move(tables), journal);
  const std::vector<Contradiction> contradictions = find_contradictions(journal.hand_kept());
  if (globals.json) {
    nlohmann::ordered_json documents = nlohmann::ordered_json::array();
    for (const Imported& one : imported) {
      documents.push_back({{"title", one.table.title}, {"rows", one.table.rows.size()}, {"known", one.known}});
    }
    print_json({{"imported", documents}, {"contradictions", to_documents(contradictions)}});
    return kDone;
  }
  for (const Imported& one : imported) {
    print(summary_of(one));
  }
  print(contradictions_text(contradictions));
  return kDone;
}

}  // namespace apo
