// harness/worker/parent/samples.h - checks that a worker's list of samples is possible; the worker is not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/worker/protocol/protocol.h"

namespace apo {

// Describes what is wrong with the samples of a whole run; nullopt when they are plausible. Parent and worker share one
// clock, so all stamps lie between `sent_ns` and `received_ns` and never run backwards.
std::optional<std::string> mistake_in(const std::vector<RawSample>& samples, const RunRequest& request,
                                      std::int64_t sent_ns, std::int64_t received_ns, Target target = Target::host);

// The duration of a sample by the target's own clock: the host's stamps, or on cuda the events.
double elapsed_ns(const RawSample& sample, Target target);

// Checks that `samples` repeats the samples reported at the pause.
bool begins_with(const std::vector<RawSample>& samples, const std::vector<RawSample>& beginning);

}  // namespace apo
