// harness/injection/writer.h - writes the sums of a profiled process to its file, from a thread of its own.
#pragma once

#include <sys/types.h>

#include <string>

#include "harness/injection/session.h"

namespace apo {

// Puts the start time in the file's name: a process may become another program and keep its id.
std::string recording_path(const char* folder, pid_t process);

// Writes nothing when no record came since the last time, unless the recording is complete.
void write_recording(Session& self, bool complete);

// Writes every 50 ms, or more seldom where writing takes long.
void start_writer(Session& self);
// Returns false when it hangs in CUPTI, which must then be left alone.
bool stop_writer(Session& self);

}  // namespace apo
