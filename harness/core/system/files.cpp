// harness/core/system/files.cpp - atomic writes, owned descriptors, the program's folder.
#include "harness/core/system/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kLargestRead = std::uintmax_t{1} << 31;

std::string reason() {
  return std::strerror(errno);
}

ssize_t read_some(int fd, std::span<char> part) {
  ssize_t got = 0;
  do {
    got = read(fd, part.data(), part.size());
  } while (got < 0 && errno == EINTR);
  return got;
}

void write_all(int fd, std::string_view contents, const fs::path& path) {
  while (!contents.empty()) {
    const ssize_t wrote = write(fd, contents.data(), contents.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      throw EnvironmentError("cannot write '" + path.string() + "': " + reason());
    }
    contents.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

// A file under a temporary name beside its target, whole and on disk. Removed unless renamed.
class StagedFile {
 public:
  StagedFile(fs::path target, std::string_view contents) : target_(std::move(target)) {
    std::error_code error;
    if (target_.has_parent_path() && !fs::create_directories(target_.parent_path(), error) && error) {
      throw EnvironmentError("cannot create '" + target_.parent_path().string() + "': " + error.message());
    }
    const fs::file_status status = fs::status(target_, error);
    if (fs::is_directory(status)) {
      throw EnvironmentError("cannot write '" + target_.string() + "': a folder has that name");
    }
    // The rename would put a file in the place of /dev/null, or of the link that /dev/stdout is.
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      throw EnvironmentError("cannot write '" + target_.string() + "': it is not a regular file",
                             "name a file, or leave the option out");
    }
    if (fs::exists(status) && fs::is_symlink(target_, error)) {
      target_ = fs::canonical(target_);
    }
    std::string name = target_.string() + ".XXXXXX";
    const FileDescriptor file(mkostemp(name.data(), O_CLOEXEC));
    if (!file) {
      fail();
    }
    name_ = name;
    try {
      write_all(file.get(), contents, target_);
      if (fchmod(file.get(), 0644) != 0 || fsync(file.get()) != 0) {
        fail();
      }
    } catch (...) {
      remove();
      throw;
    }
  }
  StagedFile(StagedFile&& other) noexcept : target_(std::move(other.target_)), name_(std::exchange(other.name_, {})) {}
  StagedFile& operator=(StagedFile&&) = delete;
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  ~StagedFile() { remove(); }

  void rename_to_target() {
    if (rename(name_.c_str(), target_.c_str()) != 0) {
      fail();
    }
    name_.clear();
  }

 private:
  [[noreturn]] void fail() const { throw EnvironmentError("cannot write '" + target_.string() + "': " + reason()); }
  void remove() const {
    if (!name_.empty()) {
      unlink(name_.c_str());  // best effort: an error is already on its way to the caller
    }
  }

  fs::path target_;
  std::string name_;
};

}  // namespace

bool lies_in(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UserError("'" + path.string() + "' is a directory, not a file");
  }
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) {
    throw UserError("cannot read '" + path.string() + "': " + reason());
  }
  const auto check_size = [&](std::uintmax_t bytes) {
    if (bytes > kLargestRead) {
      throw UserError("'" + path.string() + "' is larger than any file that is read whole: " +
                      format_bytes(static_cast<double>(kLargestRead)) + " at most");
    }
  };
  check_size(static_cast<std::uintmax_t>(status.st_size));
  std::string contents;
  contents.reserve(static_cast<std::size_t>(status.st_size));
  std::array<char, std::size_t{1} << 16> part;  // not zeroed: most files are smaller
  ssize_t got = 0;
  while ((got = read_some(file.get(), part)) > 0) {
    contents.append(part.data(), static_cast<std::size_t>(got));
    check_size(contents.size());  // a device or a pipe has no size, and maybe no end
  }
  if (got < 0) {
    throw UserError("cannot read '" + path.string() + "': " + reason());
  }
  return contents;
}

void write_file_atomically(const fs::path& path, std::string_view contents) {
  StagedFile(path, contents).rename_to_target();
}

void check_writable(const fs::path& path) {
  const StagedFile unused(path, "");
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error)) {
      files.push_back(it->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

void write_files_atomically(const std::vector<NamedText>& files) {
  std::vector<StagedFile> staged;
  for (const NamedText& file : files) {
    staged.emplace_back(file.path, file.contents);
  }
  for (StagedFile& file : staged) {
    file.rename_to_target();
  }
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::reset() {
  if (fd_ >= 0) {
    close(fd_);  // nothing to do about an error: the descriptor is gone either way
    fd_ = -1;
  }
}

bool is_absent(const fs::path& path) {
  std::error_code error;
  return !fs::exists(path, error) && !error;
}

fs::path executable_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw EnvironmentError("cannot find the running program: " + error.message());
  }
  return path;
}

fs::path injection_library() {
  const fs::path folder = executable_path().parent_path();
  const fs::path places[] = {folder / "libapo_inject.so", folder / APO_INSTALLED_INJECTION};
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place)) {
      return fs::canonical(place);
    }
  }
  throw EnvironmentError("the library that records an application is missing: '" + places[0].string() + "'",
                         "build or install the program whole: 'ninja apo_inject', or 'cmake --install'");
}

fs::path home_folder() {
  if (const char* home = std::getenv("APO_HOME"); home != nullptr && *home != '\0') {
    return fs::absolute(home);
  }
  // In a build tree the checkout is some folders up; installed, the data stands in share/autopoiesis.
  const fs::path program = executable_path();
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    for (const fs::path& home : {folder, folder / "share" / "autopoiesis"}) {
      if (fs::exists(home / "kernels" / "abi.h") && fs::exists(home / "variants")) {
        return home;
      }
    }
  }
  throw EnvironmentError(
      "cannot find the folders 'kernels' and 'variants' of this program near '" + program.string() + "'",
      "set APO_HOME to the folder that holds them");
}

}  // namespace apo
