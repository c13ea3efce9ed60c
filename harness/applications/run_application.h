// harness/applications/run_application.h - runs a person's command under the injected recorder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/applications/application_profile.h"
#include "harness/core/recording/recorded_call.h"

namespace apo {

// Returns the environment in which a program records into that folder. UserError where that would replace another
// tool's CUDA_INJECTION64_PATH; of NVTX_INJECTION64_PATH it leaves the ranges out.
std::vector<std::string> recorder_environment(const std::filesystem::path& folder);

// Throws UserError when the command does not start, and when another tool's CUDA_INJECTION64_PATH would be replaced.
ApplicationProfile run_application(const std::vector<std::string>& command, bool output_to_stderr);

// Runs the command, and returns the call that `wanted` names, "kernel K NAME" or "range NAME". Throws UserError with
// the reason why there is none.
ProgramCall record_call(const std::vector<std::string>& command, const std::string& wanted, bool output_to_stderr);

// Reads the recordings of a folder; a file that is no recording becomes a note.
void collect_recordings(const std::filesystem::path& folder, ApplicationProfile& profile);

}  // namespace apo
