// harness/worker/confinement/confinement.h - what a candidate's host code may do outside its process: nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace apo {

struct Confinement {
  std::string means;        // what this kernel granted: "seccomp+landlock+room", or "limits" where it has nothing
  bool is_in_room = false;  // the folder `room` is the root of all paths
};

// Confines this process and its children for good. Candidates may compute, allocate, start threads, print and end
// themselves. They may not start processes, run programs, signal or inspect other processes, leave the process group,
// outlive the parent, raise their limits, move to other CPUs, open sockets, or change any file. With the folder `room`
// they open no file outside of it: it becomes the root of all paths (chroot, in a user namespace of its own where this
// process is no administrator), Landlock refuses to read any other file, or both.
// With `name_refused` such a call raises SIGSYS, whose handler answers for the system: report_fatal_signals().
Confinement confine(const std::string& room = "", bool name_refused = false);
// The same for a process that has already opened a GPU: NVIDIA's device files stay writable and files may grow, because
// the driver needs both. seccomp confines all threads, Landlock only this one and those that it starts later.
std::string confine_with_gpu();

// The error that a refused call gets; 0 for one that opens a file, which is tried; nullopt for one that ends the
// process.
std::optional<int> refusal_of(int call);
// The last argument of a call that opens a file, which the filter then lets through: for the handler.
inline constexpr std::uint64_t kFromHandler = 0x61706f2068616e64;

// Returns "fork", or "system call 57" for a call without a name here.
std::string system_call_name(int number);

}  // namespace apo
