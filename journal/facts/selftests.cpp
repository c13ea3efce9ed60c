// journal/facts/selftests.cpp - writes selftests as they run, and reads the newest result of a machine.
#include "journal/columns.h"

namespace apo {

std::int64_t Journal::begin_selftest(const Selftest& selftest) {
  return insert_row(
      *self_, "selftest", selftest,
      {{"machine", self_->machine_row(selftest.machine)}, {"started_at", time_or_now(selftest.started_at)}});
}

void Journal::add_selftest_comparison(std::int64_t selftest, const SelftestComparison& comparison) {
  Transaction transaction(self_->database);
  insert_row(*self_, "selftest_comparison", comparison, {{"selftest", selftest}, {"at", utc_now()}});
  transaction.commit();
}

void Journal::finish_selftest(const Selftest& selftest) {
  Transaction transaction(self_->database);
  insert_rows(*self_, "selftest_kernel", selftest.kernels, {{"selftest", selftest.id}});
  self_->database.run(
      "INSERT INTO selftest_end (selftest, seed, smallest_claim, seconds, ended_at) VALUES (?, ?, ?, ?, ?)",
      {selftest.id, selftest.seed, selftest.smallest_claim, selftest.seconds, time_or_now(selftest.ended_at)});
  transaction.commit();
}

std::optional<Selftest> Journal::latest_selftest(const Machine& machine) {
  std::optional<Selftest> selftest =
      first_of(read_rows<Selftest>(*self_,
                                   "selftest JOIN selftest_end ON selftest_end.selftest = selftest.id WHERE machine ="
                                   " (SELECT id FROM machine WHERE fingerprint = ?) ORDER BY id DESC LIMIT 1",
                                   {machine_fingerprint(machine)}));
  if (selftest) {
    selftest->kernels =
        read_rows<SelftestKernel>(*self_, "selftest_kernel WHERE selftest = ? ORDER BY position", {selftest->id});
  }
  return selftest;
}

std::vector<SelftestKernel> Journal::selftest_kernels(const Machine& machine, const std::string& rule_version) {
  const std::string fingerprint = machine_fingerprint(machine);
  return read_rows<SelftestKernel>(
      *self_,
      "selftest_kernel k WHERE k.selftest = (SELECT max(other.selftest) FROM selftest_kernel other"
      " JOIN selftest s ON s.id = other.selftest JOIN machine m ON m.id = s.machine"
      " WHERE other.configuration = k.configuration AND other.workload = k.workload AND m.fingerprint = ?"
      " AND s.rule_version = ?) ORDER BY k.selftest, k.position",
      {fingerprint, rule_version});
}

std::vector<SelftestComparison> Journal::selftest_comparisons(std::int64_t selftest) {
  return read_rows<SelftestComparison>(*self_, "selftest_comparison WHERE selftest = ? ORDER BY id", {selftest});
}

}  // namespace apo
