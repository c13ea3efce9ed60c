// harness/worker/parent/samples.h - checks that a worker's list of samples is possible; the worker is not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/worker/protocol/protocol.h"

namespace apo {

// What is wrong with the samples of a whole run, in words; nullopt when they could be true. Parent and worker have the
// same clock, so all stamps lie between `sent_ns` and `received_ns` and never run backwards.
std::optional<std::string> mistake_in(const std::vector<RawSample>& samples, const RunRequest& request,
                                      std::int64_t sent_ns, std::int64_t received_ns, Target target = Target::host);

// The time of a sample by the target's own clock: the host's stamps, or on cuda the events.
double elapsed_ns(const RawSample& sample, Target target);

// Whether `samples` repeats what was reported at the pause.
bool begins_with(const std::vector<RawSample>& samples, const std::vector<RawSample>& beginning);

}  // namespace apo
