// harness/implement/build_cache.h - a folder of content-addressed entries, each whole or absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/core/system/lock_file.h"

namespace apo {

struct CacheEntry {
  std::filesystem::path folder;
  std::string info;  // what publish() was given
};

// A folder in the making, invisible to readers. Removed with its contents unless published; the next BuildCache removes
// one that a killed process left.
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
  // Returns the entry after checking every one of its files; a damaged one counts as absent.
  std::optional<CacheEntry> find(const std::string& key) const;
  // Waits while another thread or process holds the same key's turn, for ten minutes at most, and holds it for as long
  // as the result lives. Who came second finds the entry. Where nothing can be locked both build, and publish() sorts
  // it out.
  LockFile turn_to_build(const std::string& key) const;
  CacheDraft draft() const { return CacheDraft(folder_); }
  // Publishes `files` of the draft, with `info`, as the entry of `key`. When another process was faster, its entry
  // stays.
  CacheEntry publish(const CacheDraft& draft, const std::string& key, const std::vector<std::string>& files,
                     const std::string& info) const;

 private:
  void sweep() const;
  std::filesystem::path folder_;
};

}  // namespace apo
