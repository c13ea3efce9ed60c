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
         (row.refused ? fmt::format(", and refused by its application in comparison a{}", row.refused->comparison)
                      : "");
}

Ratio ratio_of(const DispatchEvidence& evidence) {
  const Judgement& judgement = evidence.judgement;
  return evidence.stood ? Ratio{1 / judgement.speedup(), 1 / judgement.speedup_upper(), 1 / judgement.speedup_lower()}
                        : Ratio{judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()};
}

DeviceFacts device_facts(const Machine& machine) {
  const auto fact = [&](const std::string& name, std::int64_t unknown) {
    const auto found = machine.facts.find(name);
    return found == machine.facts.end() ? unknown : parse_int(found->second).value_or(unknown);
  };
  // Every compute capability so far takes 1024 threads a block; older journals do not repeat it.
  constexpr std::int64_t kThreadsPerBlock = 1024;
  const std::int64_t capability = machine.isa.starts_with("sm_") ? parse_int(machine.isa.substr(3)).value_or(0) : 0;
  return {.name = machine.model,
          .uuid = machine.id,
          .major = static_cast<int>(capability / 10),
          .minor = static_cast<int>(capability % 10),
          .sms = machine.cores,
          .threads_per_block = static_cast<int>(fact("threads_per_block", kThreadsPerBlock)),
          .shared_per_block = fact("shared_per_block", 0),
          .driver = machine.driver};
}

}  // namespace apo
