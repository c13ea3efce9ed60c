// harness/fleet/answer_journal.cpp - writes the rows of an answer with the journal's own functions, and reads
// them.
#include "harness/fleet/answer_journal.h"

#include <fstream>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/replays.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

namespace apo {
namespace {

void fill(Journal& journal, const JudgedTask& judged) {
  Journal::Batch batch(journal);
  add_machine(journal, judged.machine);
  add_roofs(journal, judged.machine.id, judged.roofs);
  for (const Variant& source : judged.sources) {
    add_variant(journal, source);
  }
  Experiment experiment = judged.experiment;
  experiment.campaign = 0;
  experiment.iteration = 0;
  experiment.machine = judged.machine.id;
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment);
  for (SentinelRun sentinel : judged.sentinels) {
    sentinel.row.campaign = 0;
    add_sentinel(journal, sentinel.row, sentinel.rounds);
  }
  batch.commit();
}

std::string empty_journal() {
  const TemporaryFolder folder("apo-answer");
  Journal::open(folder.path() / "whole.db", Access::temporary).write_compact_copy(folder.path() / "empty.db");
  return read_file(folder.path() / "empty.db");
}

void check_whole(Journal& journal) {
  std::vector<std::string> findings = journal.check_integrity();
  if (findings.empty()) {
    findings = journal.check_invariants();
  }
  if (!findings.empty()) {
    throw UserError("the answer contradicts itself: " + findings.front());
  }
}

JudgedTask read_answer_file(const std::filesystem::path& path) {
  Journal journal = Journal::open(path, Access::read_only);
  check_whole(journal);
  const std::vector<std::int64_t> judged = judged_originals(journal);
  if (judged.size() != 1) {
    throw UserError("the answer holds no experiment with a verdict, or more than one");
  }
  JudgedTask answer{.machine = machine_of(journal, judged.front()).value(),
                    .roofs = {},
                    .sentinels = {},
                    .sources = {},
                    .experiment = load_experiment(journal, judged.front())};
  answer.roofs = roofs_of(journal, answer.machine.id);
  for (const SentinelRow& row : sentinels_of(journal, 0)) {
    answer.sentinels.push_back({.row = row, .rounds = sentinel_rounds(journal, row.id)});
  }
  return answer;
}

}  // namespace

std::string answer_journal(const JudgedTask& judged) {
  // To lay out the tables takes longer than to fill them.
  static const std::string empty = empty_journal();
  const TemporaryFolder folder("apo-answer");
  std::ofstream(folder.path() / "judged.db", std::ios::binary) << empty;
  Journal journal = Journal::open(folder.path() / "judged.db", Access::temporary);
  fill(journal, judged);
  journal.write_compact_copy(folder.path() / "answer.db");
  return read_file(folder.path() / "answer.db");
}

JudgedTask judged_task(const std::string& bytes) {
  const TemporaryFolder folder("apo-answer");
  const std::filesystem::path path = folder.path() / "answer.db";
  std::ofstream(path, std::ios::binary) << bytes;  // what was not written whole is no journal
  try {
    return read_answer_file(path);
  } catch (const EnvironmentError& error) {
    throw UserError(error.what());  // of its file, which is a sender's and not this machine's
  }
}

}  // namespace apo
