// harness/worker/confinement/system_calls.h - filters what a candidate's host code may ask of the kernel.
#pragma once

#include <cstdint>
#include <string>

namespace apo {

// Threads that are started afterwards inherit the filter.
enum class FilteredThreads : std::uint8_t { calling, all };

// For good. False where this kernel or architecture has no such filter; then nothing was changed.
bool install_system_call_filter(FilteredThreads threads);

// "fork"; "system call 57" for one without a name here.
std::string system_call_name(int number);

}  // namespace apo
