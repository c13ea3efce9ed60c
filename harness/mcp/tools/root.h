// harness/mcp/tools/root.h - the folder that a client may name files of; everything outside is refused.
#pragma once

#include <filesystem>
#include <string>

namespace apo::mcp {

class Root {
 public:
  explicit Root(const std::filesystem::path& folder);
  const std::filesystem::path& folder() const { return folder_; }
  // The file without links in its path. Throws UserError for one outside, and for what is no regular file.
  std::string file(const std::string& path) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace apo::mcp
