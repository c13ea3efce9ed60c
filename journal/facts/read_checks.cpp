// journal/facts/read_checks.cpp - reads certifications and sentinels back into the records.
#include "journal/columns.h"

namespace apo {
namespace {

std::optional<ClockCoupling> clock_of(Journal::Implementation& self, std::int64_t certification) {
  std::vector<ClockCoupling> found =
      read_rows<ClockCoupling>(self, "certification_clock WHERE certification = ?", {certification});
  if (found.empty()) {
    return std::nullopt;
  }
  if (const ClockCoupling& clock = found.front(); !clock.missing.empty()) {
    return ClockCoupling{.missing = clock.missing, .blocks = clock.blocks, .coupled = clock.coupled};
  }
  return found.front();
}

}  // namespace

std::vector<Certification> Journal::certifications(std::int64_t campaign) {
  std::vector<Certification> result;
  Statement rows = self_->database.query(
      "SELECT id, " + columns_of<Certification>() + " FROM certification WHERE campaign = ? ORDER BY id", {campaign});
  while (rows.step()) {
    Certification& certification = result.emplace_back();
    certification.id = rows.integer();
    read_row(*self_, rows, certification);
    certification.clock = clock_of(*self_, certification.id);
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
  std::vector<SentinelRow> result;
  Statement rows = self_->database.query(
      "SELECT s.id, m.key, " + columns_of<SentinelRow>("s.") +
          " FROM sentinel s JOIN machine m ON m.id = s.machine WHERE coalesce(s.campaign, 0) = ? ORDER BY s.id",
      {campaign});
  while (rows.step()) {
    SentinelRow& sentinel = result.emplace_back();
    sentinel.id = rows.integer();
    sentinel.machine = rows.text();
    read_row(*self_, rows, sentinel);
  }
  return result;
}

std::vector<Round> Journal::sentinel_rounds(std::int64_t sentinel) {
  return self_->rounds("sentinel", sentinel);
}

}  // namespace apo
