// harness/loop/fleet/list_progress.cpp - {"ended": {HASH: EXIT_CODE}}, in a file that has its name from the list.
#include "harness/loop/fleet/list_progress.h"

#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

}  // namespace

ListProgress::ListProgress(const fs::path& folder, const std::vector<std::string>& campaign_files) {
  std::string names;
  for (const std::string& file : campaign_files) {
    const std::string name = fs::absolute(file).lexically_normal().string();
    names += name + "\n";
    hashes_[file] = sha256(name + "\n" + read_file(file));
  }
  path_ = folder / (sha256(names).substr(0, 16) + ".json");
  if (is_absent(path_)) {
    return;
  }
  try {
    ended_ = nlohmann::json::parse(read_file(path_)).at("ended").get<std::map<std::string, int>>();
  } catch (const nlohmann::json::exception& error) {
    throw UserError("'" + path_.string() + "' does not say which campaigns have ended: " + error.what(),
                    "remove it: the list then begins anew");
  }
}

std::optional<int> ListProgress::ended(const std::string& campaign_file) const {
  const auto found = ended_.find(hashes_.at(campaign_file));
  return found == ended_.end() ? std::nullopt : std::optional(found->second);
}

void ListProgress::end(const std::string& campaign_file, int exit_code) {
  ended_[hashes_.at(campaign_file)] = exit_code;
  fs::create_directories(path_.parent_path());
  write_file_atomically(path_, nlohmann::json({{"ended", ended_}}).dump());
}

void ListProgress::forget() {
  ended_.clear();
  fs::remove(path_);
}

}  // namespace apo
