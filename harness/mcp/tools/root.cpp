// harness/mcp/tools/root.cpp - follows links before it compares.
#include "harness/mcp/tools/root.h"

#include "harness/core/error.h"
#include "harness/core/system/files.h"

namespace apo::mcp {
namespace fs = std::filesystem;

Root::Root(const fs::path& folder) : folder_(fs::canonical(folder)) {}

std::string Root::file(const std::string& path) const {
  std::error_code error;
  // What does not exist is judged by its name, so that the answer tells nothing about files outside.
  const fs::path whole = fs::weakly_canonical(folder_ / path, error);
  if (error || !lies_in(whole, folder_)) {
    throw UserError("'" + path + "' is outside of '" + folder_.string() + "', where this server was started",
                    "name a file below that folder, or give its text as 'source'");
  }
  if (!fs::is_regular_file(whole, error)) {
    throw UserError("'" + path + "' is not a file in '" + folder_.string() + "'",
                    "give the path of a source file, or its text as 'source'");
  }
  return whole.string();
}

}  // namespace apo::mcp
