// harness/core/records/research.cpp - what a bottleneck is worth.
#include "harness/core/records/research.h"

#include <fmt/format.h>

#include "harness/core/interval.h"

namespace apo {

std::string worth_text(const Bottleneck& bottleneck) {
  return fmt::format("{} {}", bottleneck.kind == BottleneckKind::cause ? "about" : "at most",
                     format_ratio(bottleneck.bound));
}

}  // namespace apo
