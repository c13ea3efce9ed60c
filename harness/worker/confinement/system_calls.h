// harness/worker/confinement/system_calls.h - filters what a candidate's host code may ask of the kernel.
#pragma once

#include <cstdint>
#include <string>

namespace apo {

// Threads that are started afterwards inherit the filter.
enum class FilteredThreads : std::uint8_t { calling, all };

// Installs the filter for good. Returns false, and changes nothing, where this kernel or architecture has no such
// filter.
bool install_system_call_filter(FilteredThreads threads);

// Returns "fork", or "system call 57" for a call without a name here.
std::string system_call_name(int number);

}  // namespace apo
