// harness/research/prediction/past_deviation.h - how far off a judgement of the past may be here, now.
#pragma once

#include "harness/research/inputs.h"

namespace apo {

// Whether it was made on this machine and workload, with these caches.
bool is_here(const ResearchInputs& inputs, const PastResult& past);

// The standard deviation of its effect here, in logs: that of its interval, and of what is different here.
double deviation_here(const ResearchInputs& inputs, const PastResult& past);

}  // namespace apo
