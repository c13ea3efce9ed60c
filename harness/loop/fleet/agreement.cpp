// harness/loop/fleet/agreement.cpp - counts the devices that accepted.
#include "harness/loop/fleet/agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string found_on(const DeviceVerdict& one) {
  const Judgement& judgement = one.judgement;
  return fmt::format(
      "{} on {} ({})", to_string(judgement.verdict), one.device,
      has_effect(judgement)
          ? format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()).all()
          : std::string(to_string(judgement.reason)));
}

}  // namespace

void demand_agreement(Experiment& experiment, const DeviceVerdict& first, const std::vector<DeviceVerdict>& others,
                      int wanted) {
  Judgement& judgement = *experiment.judgement;
  if (wanted <= 1 || judgement.verdict != Verdict::accepted) {
    return;
  }
  std::vector<std::string> found = {found_on(first)};
  for (const DeviceVerdict& one : others) {
    found.push_back(found_on(one));
  }
  const auto agreed = 1 + std::ranges::count_if(others, [](const DeviceVerdict& one) {
                        return one.judgement.verdict == Verdict::accepted;
                      });
  if (agreed >= wanted) {
    experiment.gates.push_back({.gate = "replication", .evidence = join(found, ", ")});
    return;
  }
  judgement.verdict = Verdict::inconclusive;
  judgement.reason = Reason::not_replicated;
  judgement.sentence =
      fmt::format("Accepted on {} of the {} devices that have to agree: {}.", agreed, wanted, join(found, ", "));
}

}  // namespace apo
