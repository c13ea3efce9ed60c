// harness/implement/build_record.h - what the cache keeps of a build beside its files.
#pragma once

#include <string>

#include "harness/core/records.h"
#include "harness/implement/cache.h"

namespace apo {

std::string record_of(const Build& build, const std::string& built_for);
// The build of a cache entry; `object` and `log` are the names of its files.
Build recorded_build(const CacheEntry& entry, const std::string& key, const std::string& object,
                     const std::string& log);

}  // namespace apo
