// harness/evaluate/correctness/large_case.h - one case beyond 2^31 elements, where the machine has room.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/evaluate/correctness/check_case.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Returns a case in which the largest tensor has more than `elements` elements, else more than that many bytes, along
// one axis. Its inputs are a few entries along that axis, again and again, so that neither they nor the reference take
// long; the reference has to agree, on a few more entries, that each only depends on its own. nullopt where no axis of
// the contract and of the configuration reaches so far, where none can be repeated, or where the tensors would take
// more than a third of this machine's memory or half of the device's.
std::optional<CheckCase> large_case(const Runtime& runtime, const Configuration& configuration, std::uint64_t seed,
                                    std::int64_t elements = std::int64_t{1} << 31);

}  // namespace apo
