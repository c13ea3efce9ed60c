// harness/loop/export/dispatch_table.cpp - says in words and numbers what a row rests on.
#include "harness/loop/export/dispatch_table.h"

#include <fmt/format.h>

#include "harness/core/text.h"

namespace apo {

Configuration configuration_of(const DispatchRow& row) {
  return {.variant = row.variant.id(), .settings = stated_settings(row.variant, row.settings)};
}

std::string statement_of(const DispatchRow& row) {
  if (!row.measured) {
    return "unmeasured, correct by apo:requires";
  }
  return "measured" + (row.nearest_only ? " at " + join(row.measured->workloads, ", ") : "") +
         (row.unchecked ? ", and not verified at all sizes of the region" : "") +
         (row.refused ? fmt::format(", and refused by its application in comparison c{}", row.refused->comparison)
                      : "");
}

Ratio ratio_of(const DispatchEvidence& evidence) {
  const Judgement& judgement = evidence.judgement;
  return evidence.stood ? Ratio{1 / judgement.speedup(), 1 / judgement.speedup_upper(), 1 / judgement.speedup_lower()}
                        : Ratio{judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()};
}

}  // namespace apo
