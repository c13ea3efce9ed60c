// harness/implement/build_cache.h - a folder of content-addressed entries, each whole or absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/files.h"

namespace apo {

struct CacheEntry {
  std::filesystem::path folder;
  std::string info;  // what publish() was given
};

// A folder in the making, invisible to readers. Removed with its contents unless published; one that a killed process
// left behind is removed by the next BuildCache.
class CacheDraft {
 public:
  explicit CacheDraft(const std::filesystem::path& cache);
  CacheDraft(CacheDraft&& other) noexcept = default;
  CacheDraft& operator=(CacheDraft&&) = delete;
  ~CacheDraft();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;  // held while its process lives
};

class BuildCache {
 public:
  // Creates the folder; throws EnvironmentError when it cannot.
  explicit BuildCache(std::filesystem::path folder);
  // The entry, once every one of its files has proved to be what was published; a damaged one counts as absent.
  std::optional<CacheEntry> find(const std::string& key) const;
  CacheDraft draft() const { return CacheDraft(folder_); }
  // Makes `files` of the draft, with `info`, the entry of `key`. When another process was faster its entry stands.
  CacheEntry publish(const CacheDraft& draft, const std::string& key, const std::vector<std::string>& files,
                     const std::string& info) const;

 private:
  void sweep() const;
  std::filesystem::path folder_;
};

}  // namespace apo
