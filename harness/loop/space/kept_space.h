// harness/loop/space/kept_space.h - the file that an interrupted recording goes on with.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/loop/exchange/t4.h"

namespace apo {

// Returns the file's results of this space, or none where there is no file yet; `origin` but for the reference, which
// is the file's. Throws UserError for a file of another space: another program's, another variant's or text's, another
// workload, machine or state of the caches, and for a configuration that is not one of `legal`.
T4File kept_space(const std::filesystem::path& path, const T4Origin& origin, const Variant& variant,
                  const std::vector<Settings>& legal);

}  // namespace apo
