// journal/facts/selftests.cpp - writes selftests as they run, and reads the newest result of a machine.
#include "journal/facts/selftests.h"

#include "journal/columns.h"

namespace apo {

std::int64_t begin_selftest(Journal& journal, const Selftest& selftest) {
  return insert_row(
      journal, "selftest", selftest,
      {{"machine", machine_row(journal, selftest.machine)}, {"started_at", time_or_now(selftest.started_at)}});
}

void add_selftest_comparison(Journal& journal, std::int64_t selftest, const SelftestComparison& comparison) {
  Transaction transaction(database_of(journal));
  insert_row(journal, "selftest_comparison", comparison, {{"selftest", selftest}, {"at", utc_now()}});
  transaction.commit();
}

void finish_selftest(Journal& journal, const Selftest& selftest) {
  Transaction transaction(database_of(journal));
  insert_rows(journal, "selftest_kernel", selftest.kernels, {{"selftest", selftest.id}});
  database_of(journal).run(
      "INSERT INTO selftest_end (selftest, seed, smallest_claim, seconds, ended_at) VALUES (?, ?, ?, ?, ?)",
      {selftest.id, selftest.seed, selftest.smallest_claim, selftest.seconds, time_or_now(selftest.ended_at)});
  transaction.commit();
}

std::optional<Selftest> latest_selftest(Journal& journal, const Machine& machine) {
  std::optional<Selftest> selftest =
      first_of(read_rows<Selftest>(journal,
                                   "selftest JOIN selftest_end ON selftest_end.selftest = selftest.id WHERE machine ="
                                   " (SELECT id FROM machine WHERE fingerprint = ?) ORDER BY id DESC LIMIT 1",
                                   {machine_fingerprint(machine)}));
  if (selftest) {
    selftest->kernels =
        read_rows<SelftestKernel>(journal, "selftest_kernel WHERE selftest = ? ORDER BY position", {selftest->id});
  }
  return selftest;
}

std::vector<SelftestKernel> selftest_kernels(Journal& journal, const Machine& machine,
                                             const std::string& rule_version) {
  const std::string fingerprint = machine_fingerprint(machine);
  return read_rows<SelftestKernel>(
      journal,
      "selftest_kernel k WHERE k.selftest = (SELECT max(other.selftest) FROM selftest_kernel other"
      " JOIN selftest s ON s.id = other.selftest JOIN machine m ON m.id = s.machine"
      " WHERE other.configuration = k.configuration AND other.workload = k.workload AND m.fingerprint = ?"
      " AND s.rule_version = ?) ORDER BY k.selftest, k.position",
      {fingerprint, rule_version});
}

std::vector<SelftestComparison> selftest_comparisons(Journal& journal, std::int64_t selftest) {
  return read_rows<SelftestComparison>(journal, "selftest_comparison WHERE selftest = ? ORDER BY id", {selftest});
}

}  // namespace apo
