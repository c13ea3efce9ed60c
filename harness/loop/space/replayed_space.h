// harness/loop/space/replayed_space.h - a T4 file as a space whose costs are known, for strategies to be tried on.
#pragma once

#include <cstddef>
#include <string>

#include "harness/loop/exchange/t4.h"
#include "harness/research/search/replayed_search.h"

namespace apo {

// The configurations of the file are the legal ones. A cost is the logarithm of the measured 'speedup' over the file's
// reference where each valid configuration has one, with the sign turned: both were timed in the same rounds, so that a
// machine that got slower meanwhile does not count. Else it is that of the objective, a time. Throws UserError, with
// `path` and the configuration, where a valid configuration has neither, and for an empty file.
RecordedSpace replayed_space(const T4File& file, const std::string& path);

}  // namespace apo
