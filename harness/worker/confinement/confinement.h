// harness/worker/confinement/confinement.h - what a candidate's host code may do outside its process: nothing.
#pragma once

#include <cstdint>
#include <string>

namespace apo {

// Confines this process and its children for good. Candidates may compute, allocate, start threads, print and end
// themselves. They may not start processes, run programs, signal or inspect other processes, leave the process group,
// outlive the parent, raise their limits, move to other CPUs, open sockets, or change any file. Returns what this
// kernel granted: "seccomp+landlock", "seccomp", or "limits" where it has neither.
std::string confine();
// The same for a process that has already opened a GPU: NVIDIA's device files stay writable and files may grow, because
// the driver needs both. seccomp confines all threads, Landlock only this one and those that it starts later.
std::string confine_with_gpu();

// Threads that are started afterwards inherit the filter.
enum class FilteredThreads : std::uint8_t { calling, all };

// Installs the filter for good. Returns false, and changes nothing, where this kernel or architecture has no such
// filter.
bool install_system_call_filter(FilteredThreads threads);

// Returns "fork", or "system call 57" for a call without a name here.
std::string system_call_name(int number);

}  // namespace apo
