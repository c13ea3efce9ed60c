// harness/loop/replay/audit.cpp - checks rows, invariants, coins, and the verdicts of comparisons.
#include "harness/loop/replay/audit.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/evaluate/commands/decide_application.h"
#include "harness/evaluate/judge/round.h"

namespace apo {
namespace {

// A void round may have ended before all of its workloads were measured: its coin cannot be tossed again.
std::vector<std::string> check_coins(Journal& journal) {
  std::vector<std::string> findings;
  journal.visit_rounds([&](const std::string& owner, const Round& round) {
    try {
      if (round.void_why.empty()) {
        check_coin(round);
      }
    } catch (const UserError& error) {
      findings.push_back(owner + ": " + error.what());
    }
  });
  return findings;
}

// The verdicts on commands and dispatches follow from few numbers: each is computed again.
std::vector<std::string> check_comparisons(Journal& journal) {
  std::vector<std::string> findings;
  for (const ProgramComparison& comparison : journal.comparisons(Detail::rounds)) {
    if (const std::string difference = difference_on_replay(comparison); !difference.empty()) {
      findings.push_back(fmt::format("comparison c{}: {}", comparison.id, difference));
    }
  }
  return findings;
}

}  // namespace

std::vector<std::string> audit(Journal& journal) {
  std::vector<std::string> findings = journal.check_integrity();
  if (findings.empty()) {
    findings = journal.check_invariants();
  }
  if (findings.empty()) {
    findings = check_coins(journal);
  }
  return findings.empty() ? check_comparisons(journal) : findings;
}

}  // namespace apo
