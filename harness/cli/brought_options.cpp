// harness/cli/brought_options.cpp - defines the options for a file as it is.
#include "harness/cli/brought_options.h"

#include <CLI/CLI.hpp>

#include "harness/core/error.h"

namespace apo {

std::string BroughtOptions::function() const {
  if (functions.size() > 1) {
    throw UserError("several functions were named, and this command takes one", "'apo try' takes several");
  }
  return functions.empty() ? "" : functions.front();
}

void add_brought(CLI::App& app, BroughtOptions& options) {
  app.add_option("--function", options.functions,
                 "function of the file to call, and what its parameters get where their names do not say it: "
                 "'norm4 N=B*T block_size=256'; may repeat: each is a variant")
      ->allow_extra_args(false);
  app.add_option("--line", options.lines,
                 "a line of the metadata block, for a file as it is: 'tune block_size 256', 'requires C % 4 == 0', "
                 "'flags --use_fast_math'; may repeat")
      ->allow_extra_args(false);
}

}  // namespace apo
