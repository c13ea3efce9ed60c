// harness/loop/fleet/list_progress.h - a file that says which campaigns of a list have ended.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace apo {

// The same list goes on with the other campaigns. A campaign file that has changed since is another campaign.
class ListProgress {
 public:
  ListProgress(const std::filesystem::path& folder, const std::vector<std::string>& campaign_files);
  // The exit code of a campaign that has ended.
  std::optional<int> ended(const std::string& campaign_file) const;
  void end(const std::string& campaign_file, int exit_code);
  // None has ended: the list begins anew.
  void forget();

 private:
  std::filesystem::path path_;
  std::map<std::string, std::string> hashes_;  // of the campaign files
  std::map<std::string, int> ended_;           // exit codes, by these
};

}  // namespace apo
