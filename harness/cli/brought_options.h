// harness/cli/brought_options.h - the options that take somebody's file as a variant as it is.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace apo {

struct BroughtOptions {
  std::vector<std::string> functions;
  std::vector<std::string> lines;

  // Of a command that takes one; "" where none was named. Throws UserError for several.
  std::string function() const;
  // One for each variant of a file; an empty one where none was named.
  std::vector<std::string> functions_or_none() const {
    return functions.empty() ? std::vector<std::string>{""} : functions;
  }
};

void add_brought(CLI::App& app, BroughtOptions& options);

}  // namespace apo
