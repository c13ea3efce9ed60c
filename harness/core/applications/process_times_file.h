// harness/core/applications/process_times_file.h - the file that a profiled process leaves: its record as JSON.
//
// The injected library writes it and this program reads it. The process may be hostile or die at any moment, so the
// reader trusts nothing.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/applications/application_profile.h"

namespace apo {

std::string encode_times(const ProcessTimes& recording);

// Throws UserError that says what is wrong.
ProcessTimes decode_times(std::string_view text);

}  // namespace apo
