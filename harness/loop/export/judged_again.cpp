// harness/loop/export/judged_again.cpp - repeats the judgements behind a table's rows on the machine at hand.
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/loop/export/dispatch.h"
#include "harness/loop/replay/replay.h"
#include "journal/facts/experiments.h"
#include "journal/facts/incumbents.h"
#include "journal/facts/replays.h"

namespace apo {
namespace {

// True where the machine at hand can be used for the row's target, and has no answer of its own.
bool is_missing_here(Workspace& workspace, Journal& journal, const DispatchRow& row, std::int64_t original) {
  workspace.use(row.variant.target);
  const std::string& here = workspace.machine().id;
  return row.measured->machine.id != here && !find_incumbent(journal, row.variant.family, row.workload_class, here) &&
         !judged_again(journal, original).contains(here);
}

}  // namespace

std::map<std::string, Experiment> judged_again(Journal& journal, std::int64_t original) {
  std::map<std::string, Experiment> newest;
  for (const ReplayRow& row : replays_of(journal, original)) {
    Experiment again = load_experiment(journal, row.experiment, Detail::summary);
    if (row.kind == ReplayRow::Kind::replay && again.judgement) {
      newest[again.machine] = std::move(again);
    }
  }
  return newest;
}

void judge_on_this_machine(Workspace& workspace, Journal& journal, const Dispatch& dispatch, Observer& observer) {
  std::string missing;
  bool any = false;
  for (const DispatchTable& table : dispatch.tables) {
    for (const DispatchRow* row : all_rows(table)) {
      if (!row->measured) {
        continue;
      }
      const std::optional<ReplayRow> replay = find_replay(journal, row->measured->experiment);
      const std::int64_t original = replay ? replay->original : row->measured->experiment;
      try {
        if (is_missing_here(workspace, journal, *row, original)) {
          measure_again(workspace, journal, original, ReplayRow::Kind::replay, observer);
        }
        any = true;
      } catch (const UserError& error) {
        observer.say(fmt::format("experiment {} cannot be judged again: {}", original, error.what()));
      } catch (const EnvironmentError& error) {
        missing = error.what();
        observer.say(fmt::format("experiment {} cannot be judged again here: {}", original, missing));
      }
    }
  }
  if (!any && !missing.empty()) {
    throw EnvironmentError("no row of the table can be judged on this machine: " + missing);
  }
}

}  // namespace apo
