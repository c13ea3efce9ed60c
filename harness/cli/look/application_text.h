// harness/cli/look/application_text.h - prints an application's profile for people and programs.
#pragma once

#include <string>

#include "harness/core/recording/application_profile.h"

namespace apo {

// Prints kernels by time, copies and fills, categories, gaps, and what is missing from the numbers.
std::string describe_application(const ApplicationProfile& profile, const ApplicationSummary& summary);

}  // namespace apo
