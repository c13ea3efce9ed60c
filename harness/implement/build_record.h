// harness/implement/build_record.h - the facts of a build that the cache keeps beside its files.
#pragma once

#include <cstddef>
#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/build_cache.h"

namespace apo {

// Fixed names of a build's files, so that __FILE__ and the symbol table say nothing of the variant or of this machine's
// folders.
inline constexpr const char* kHostSource = "variant.cpp";
inline constexpr const char* kCudaSource = "variant.cu";
inline constexpr const char* kObject = "variant.o";
inline constexpr const char* kLibrary = "variant.so";
inline constexpr const char* kCubin = "variant.cubin";
inline constexpr const char* kLog = "build.log";
// What is kept of a compiler's log.
inline constexpr std::size_t kLongestLog = std::size_t{256} << 10;

std::string record_of(const Build& build, const std::string& built_for);
// The build of a cache entry; `object` and `log` are the names of its files.
Build recorded_build(const CacheEntry& entry, const std::string& key, const std::string& object,
                     const std::string& log);

}  // namespace apo
