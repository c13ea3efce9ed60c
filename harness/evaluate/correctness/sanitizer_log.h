// harness/evaluate/correctness/sanitizer_log.h - reads the number of findings and the first one from compute-sanitizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apo {

// Tools of compute-sanitizer. The log of racecheck has a form of its own.
inline constexpr const char* kDeviceSanitizers[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

struct SanitizerLog {
  bool complete = false;      // the tool's own summary is there, and nothing says that the tool failed
  std::int64_t errors = 0;    // of the summary
  std::int64_t warnings = 0;  // racecheck: hazards that may be meant, such as those of warp-synchronous code
  // A finding such as "Invalid __global__ write of size 4 bytes at copy_elements in variant.cu:12 by thread (233,0,0)
  // in block (3,0,0), 1 bytes after the nearest allocation of size 4004 bytes"; empty without one.
  std::string finding;
  std::string trouble;  // what the tool says of itself when it failed
};

// Reads the forms of Compute Sanitizer 2022 to 2025. Never throws: a log without sense is not complete.
SanitizerLog read_sanitizer_log(std::string_view tool, std::string_view text);

}  // namespace apo
