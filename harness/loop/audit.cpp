// harness/loop/audit.cpp - checks rows, invariants and coins.
#include "harness/loop/audit.h"

#include "harness/core/error.h"
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

}  // namespace

std::vector<std::string> audit(Journal& journal) {
  std::vector<std::string> findings = journal.check_integrity();
  if (findings.empty()) {
    findings = journal.check_invariants();
  }
  return findings.empty() ? check_coins(journal) : findings;
}

}  // namespace apo
