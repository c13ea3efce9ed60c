// journal/facts/checks.cpp - writes and reads certifications and sentinels.
#include <limits>

#include "journal/columns.h"

namespace apo {
namespace {

// Without its numbers where the clock could not be read.
void insert_clock(Journal::Implementation& self, std::int64_t certification, ClockCoupling clock) {
  if (!clock.missing.empty()) {
    for (double* number :
         {&clock.solo_run_s, &clock.confidence, &clock.time_effect, &clock.time_lower, &clock.time_upper,
          &clock.cycle_effect, &clock.clock_effect, &clock.clock_lower, &clock.clock_upper}) {
      *number = std::numeric_limits<double>::quiet_NaN();
    }
  }
  insert_row(self, "certification_clock", clock, {{"certification", certification}});
}

}  // namespace

std::int64_t Journal::add_certification(const Certification& certification, const std::vector<Round>& rounds,
                                        const std::vector<SoloRun>& solo_runs) {
  Transaction transaction(self_->database);
  const std::int64_t newest =
      self_->database.number("SELECT max(id) FROM experiment WHERE campaign = ?", {certification.campaign});
  const std::int64_t id = insert_row(*self_, "certification", certification,
                                     {{"after_experiment", newest}, {"at", time_or_now(certification.at)}});
  for (const Round& round : rounds) {
    self_->add_round("certification", id, round);
  }
  if (certification.clock) {
    insert_clock(*self_, id, *certification.clock);
    insert_rows(*self_, "certification_solo_run", solo_runs, {{"certification", id}});
  }
  transaction.commit();
  return id;
}

std::int64_t Journal::add_sentinel(const SentinelRow& sentinel, const std::vector<Round>& rounds) {
  Transaction transaction(self_->database);
  const std::int64_t id = insert_row(*self_, "sentinel", sentinel,
                                     {{"campaign", Value::reference(sentinel.campaign)},
                                      {"machine", self_->machine_row(sentinel.machine)},
                                      {"at", time_or_now(sentinel.at)}});
  for (const Round& round : rounds) {
    self_->add_round("sentinel", id, round);
  }
  transaction.commit();
  return id;
}

std::vector<Certification> Journal::certifications(std::int64_t campaign) {
  auto result = read_rows<Certification>(*self_, "certification WHERE campaign = ? ORDER BY id", {campaign});
  for (Certification& certification : result) {
    certification.clock =
        first_of(read_rows<ClockCoupling>(*self_, "certification_clock WHERE certification = ?", {certification.id}));
  }
  return result;
}

std::set<std::int64_t> Journal::withdrawn(std::int64_t campaign) {
  const std::vector<std::int64_t> experiments = self_->database.integers(
      "SELECT w.experiment FROM withdrawn w JOIN experiment e ON e.id = w.experiment WHERE e.campaign = ?", {campaign});
  return {experiments.begin(), experiments.end()};
}

std::vector<Experiment> Journal::standing_accepts(std::int64_t campaign) {
  const std::set<std::int64_t> taken_back = withdrawn(campaign);
  std::vector<Experiment> accepts = experiments(campaign, Detail::summary);
  std::erase_if(accepts, [&](const Experiment& experiment) {
    return !experiment.judgement || experiment.judgement->verdict != Verdict::accepted ||
           taken_back.contains(experiment.id);
  });
  return accepts;
}

std::vector<SentinelRow> Journal::sentinels(std::int64_t campaign) {
  return read_rows<SentinelRow>(*self_, "sentinel WHERE coalesce(campaign, 0) = ? ORDER BY id", {campaign});
}

std::vector<Round> Journal::sentinel_rounds(std::int64_t sentinel) {
  return self_->rounds("sentinel", sentinel);
}

}  // namespace apo
