// harness/cli/trust/replay.cpp - `apo replay`: repeats old judgements, or their confirmation alone.
#include "harness/loop/replay/replay.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/applications/comparisons.h"
#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "journal/facts/experiments.h"
#include "journal/facts/replays.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ReplayRow::Kind;

constexpr const char* kRule =
    "An experiment is reproduced when the verdict is the same and the two intervals overlap; one that was never "
    "timed,\n"
    "when the outcome is the same. Seeds are fresh. Exit code: 0 reproduced, 3 not.";

std::string result_text(const Experiment& experiment) {
  const Judgement& one = *experiment.judgement;
  std::string text = std::string(to_string(one.verdict)) + " (" + std::string(to_string(one.reason)) + ")";
  if (one.reason == Reason::gate_failed) {
    return text + ", " + std::string(to_string(experiment.outcome));
  }
  return fmt::format("{}, {} n={}", text,
                     format_interval(one.speedup(), one.speedup_lower(), one.speedup_upper()).all(), one.rounds);
}

std::string result_text(const ProgramComparison& comparison) {
  return verdict_text(comparison) + ", " +
         (comparison.figures.empty() ? std::string(to_string(comparison.outcome))
                                     : figure_text(comparison.figures.front()));
}

// Replays of both have the same members; `again`: what a second one is called in the document.
template <class Replayed>
Json replay_document(const Replayed& replay, const char* again, const char* kind) {
  return {{"original", to_document(replay.original)},
          {again, to_document(replay.again)},
          {"kind", kind},
          {"reproduced", replay.reproduction.reproduced},
          {"because", replay.reproduction.why},
          {"differences", replay.differences}};
}

Json replay_document(const Replay& replay, Kind kind) {
  return replay_document(replay, "experiment", kind == Kind::confirm ? "confirm" : "replay");
}

// `letter` stands before its number in `apo show`.
template <class Replayed>
std::string replay_text(const Replayed& replay, const std::string& heading, const char* letter) {
  std::string text =
      heading + "\n" + format_table({{"then", result_text(replay.original)}, {"now", result_text(replay.again)}});
  for (const std::string& line : replay.differences) {
    text += "changed since: " + line + "\n";
  }
  return text + (replay.reproduction.reproduced ? "reproduced: " : "not reproduced: ") +
         fmt::format("{}; 'apo show {}{}' shows it in full\n", replay.reproduction.why, letter, replay.again.id);
}

std::string replay_text(const Replay& replay) {
  const Experiment& original = replay.original;
  return replay_text(replay,
                     fmt::format("experiment {}: {} against {} on {}", original.id, original.candidate.label(),
                                 original.incumbent.label(), join(original.workloads, ", ")),
                     "");
}

std::string replay_text(const ComparisonReplay& replay) {
  const ProgramComparison& original = replay.original;
  return replay_text(replay, fmt::format("comparison c{}: {} against {}", original.id, original.b, original.a), "c");
}

// The file has to be there before the writer's lock is taken: a mistyped path must not become an empty journal.
Journal open_existing(const Workspace& workspace) {
  { const Journal reader = Journal::open(workspace.paths().journal, Access::read_only); }
  return Journal::open(workspace.paths().journal, Access::read_write);
}

template <class Replayed>
int shown(const Replayed& replay, const Json& document, const Globals& globals) {
  print_answer(globals, document, replay_text(replay));
  return replay.reproduction.reproduced ? kDone : kGateFailed;
}

int comparison(std::int64_t id, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  Journal journal = open_existing(workspace);
  ConsoleObserver observer(globals);
  const ComparisonReplay replay = replay_comparison(workspace, journal, id, observer);
  return shown(replay, replay_document(replay, "comparison", "replay"), globals);
}

int one(std::int64_t id, Kind kind, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  Journal journal = open_existing(workspace);
  ConsoleObserver observer(globals);
  const Replay replay = measure_again(workspace, journal, id, kind, observer);
  return shown(replay, replay_document(replay, kind), globals);
}

// Collects the replays of all experiments.
class ReplayTable {
 public:
  void add(const Replay& replay);
  void add_failed(const Experiment& original, const std::string& why);
  Json document() const;
  std::string text() const;
  int exit_code() const;

 private:
  int experiments() const { return static_cast<int>(documents_.size()); }
  std::string summary() const;

  std::vector<std::vector<std::string>> rows_ = {{"experiment", "candidate", "then", "now", "reproduced", "because"}};
  Json documents_ = Json::array();
  std::map<std::string, std::vector<std::string>> differences_;  // each with the experiments that have it
  int measured_ = 0;
  int same_verdict_ = 0;
  int reproduced_ = 0;
};

void ReplayTable::add(const Replay& replay) {
  const std::string number = std::to_string(replay.original.id);
  ++measured_;
  same_verdict_ += replay.original.judgement->verdict == replay.again.judgement->verdict ? 1 : 0;
  reproduced_ += replay.reproduction.reproduced ? 1 : 0;
  rows_.push_back({number, replay.original.candidate.label(), result_text(replay.original), result_text(replay.again),
                   replay.reproduction.reproduced ? "yes" : "no", replay.reproduction.why});
  documents_.push_back(replay_document(replay, Kind::replay));
  for (const std::string& line : replay.differences) {
    differences_[line].push_back(number);
  }
}

void ReplayTable::add_failed(const Experiment& original, const std::string& why) {
  rows_.push_back(
      {std::to_string(original.id), original.candidate.label(), result_text(original), "-", "could not run", why});
  documents_.push_back({{"original", to_document(original)}, {"reproduced", nullptr}, {"because", why}});
}

Json ReplayTable::document() const {
  return {{"experiments", experiments()},
          {"measured", measured_},
          {"same_verdict", same_verdict_},
          {"reproduced", reproduced_},
          {"replays", documents_}};
}

std::string ReplayTable::summary() const {
  const int missed = experiments() - measured_;
  return fmt::format("{0} of {1} reproduced, {2} of {1} with the same verdict{3}\n", reproduced_, experiments(),
                     same_verdict_, missed == 0 ? "" : fmt::format(", {} could not run here", missed));
}

std::string ReplayTable::text() const {
  std::string text = experiments() == 0 ? "" : format_table(rows_);
  for (const auto& [line, numbers] : differences_) {
    text += "changed since: " + line +
            (static_cast<int>(numbers.size()) == measured_ ? "" : " (experiment " + join(numbers, ", ") + ")") + "\n";
  }
  return text + summary();
}

int ReplayTable::exit_code() const {
  return reproduced_ < measured_ ? kGateFailed : measured_ < experiments() ? kEnvironmentTrouble : kDone;
}

int all(const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  Journal journal = open_existing(workspace);
  ConsoleObserver observer(globals);
  ReplayTable table;
  for (const std::int64_t id : judged_originals(journal)) {
    try {
      table.add(measure_again(workspace, journal, id, Kind::replay, observer));
    } catch (const UserError& error) {
      table.add_failed(load_experiment(journal, id, Detail::summary), error.what());
    } catch (const EnvironmentError& error) {
      table.add_failed(load_experiment(journal, id, Detail::summary), error.what());
    }
  }
  print_answer(globals, table.document(), table.text());
  return table.exit_code();
}

}  // namespace

Action define_replay(CLI::App& app, Globals& globals) {
  const auto what = std::make_shared<std::string>();
  const auto every = std::make_shared<bool>(false);
  const auto confirmed = std::make_shared<std::int64_t>(0);
  auto* number =
      app.add_option("experiment", *what,
                     "number of an experiment with any verdict, or c and that of a comparison of commands or by an "
                     "application");
  auto* all_of_them = app.add_flag("--all", *every, "replay every judged experiment of the journal and print a table")
                          ->excludes(number);
  auto* confirm = app.add_option("--confirm", *confirmed, "repeat only the confirmation of this accepted experiment");
  exclude(confirm, {number, all_of_them});
  app.footer(kRule);
  return [what, every, confirmed, number, confirm, &globals] {
    if (confirm->count() > 0) {
      return one(*confirmed, Kind::confirm, globals);
    }
    if (!*every && number->count() == 0) {
      throw UserError(
          "no experiment given",
          "'apo replay NUMBER', 'apo replay --confirm NUMBER' or 'apo replay --all'; 'apo query' lists them");
    }
    if (*every) {
      return all(globals);
    }
    if (const auto id_of_comparison = comparison_number(*what)) {
      return comparison(*id_of_comparison, globals);
    }
    const auto id = parse_int(*what);
    if (!id) {
      throw UserError("'" + *what + "' is neither the number of an experiment nor c and that of a comparison",
                      "'apo query' lists experiments, and the view comparisons the others");
    }
    return one(*id, Kind::replay, globals);
  };
}

}  // namespace apo
