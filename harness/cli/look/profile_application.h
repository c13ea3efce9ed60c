// harness/cli/look/profile_application.h - `apo profile -- COMMAND`: profiles the GPU time of a whole application.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/applications/application_profile.h"

namespace apo {

struct ApplicationOptions {
  std::string categories;  // a file; empty = those for PyTorch
  std::string output;      // the document goes there instead of standard output
};

void add_application_options(CLI::App& app, ApplicationOptions& options);

int profile_application(const std::vector<std::string>& command, const ApplicationOptions& options,
                        const Globals& globals);

}  // namespace apo
