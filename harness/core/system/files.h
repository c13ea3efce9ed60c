// harness/core/system/files.h - files that are whole or absent, and owners of descriptors and temporary folders.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apo {

// Throws UserError with the path and the system's reason when the file cannot be read or is larger than 2 GiB.
std::string read_file(const std::filesystem::path& path);
// True for the folder itself too. By the names: links are the caller's to follow.
bool lies_in(const std::filesystem::path& file, const std::filesystem::path& folder);
// Writes beside the target, syncs and renames: a reader sees the old file or the new one, never half of one. Follows a
// link to its target, and refuses what is not a regular file.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);
// Throws as write_file_atomically() would, and changes nothing. Call it before long work.
void check_writable(const std::filesystem::path& path);
// The regular files in the folder and in those below it, sorted; none where it cannot be read.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);
// Writes several files: none changes before all are on disk under temporary names.
struct NamedText {
  std::filesystem::path path;
  std::string contents;
};
void write_files_atomically(const std::vector<NamedText>& files);

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// A fresh folder that is removed with everything in it. `prefix` is "apo" or "apo-" and a word. The first one of a
// process also removes the folders of killed processes.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix = "apo");
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;  // held on the folder itself: while it is, its owner lives
};

// Removes temporary folders of this user in `place` whose owners have ended. Errors are ignored: they do not matter to
// the caller.
void remove_abandoned_folders(const std::filesystem::path& place);

// True when nothing has that name. False too where that is unknown: opening it reports the reason.
bool is_absent(const std::filesystem::path& path);
// The folder of this program's variants, schema and headers: $APO_HOME, else found from the executable.
std::filesystem::path home_folder();
// The library that the CUDA driver loads into a program that is recorded, beside this program or where it was
// installed. Throws EnvironmentError.
std::filesystem::path injection_library();
// Absolute path of the running program.
std::filesystem::path executable_path();

}  // namespace apo
