// harness/core/files.cpp - atomic writes, owners of descriptors and folders, where the program lives.
#include "harness/core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "harness/core/error.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

std::string reason() {
  return std::strerror(errno);
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

// Removes the half-written file unless the rename took it.
class Unlinker {
 public:
  explicit Unlinker(fs::path path) : path_(std::move(path)) {}
  ~Unlinker() {
    if (!path_.empty()) {
      unlink(path_.c_str());  // best effort: an error is already on its way to the caller
    }
  }
  Unlinker(const Unlinker&) = delete;
  Unlinker& operator=(const Unlinker&) = delete;
  void release() { path_.clear(); }

 private:
  fs::path path_;
};

}  // namespace

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UserError("'" + path.string() + "' is a directory, not a file");
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw UserError("cannot read '" + path.string() + "': " + reason());
  }
  std::ostringstream contents;
  contents << stream.rdbuf();
  return contents.str();
}

void write_file_atomically(const fs::path& path, std::string_view contents) {
  if (path.has_parent_path()) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      throw EnvironmentError("cannot create '" + path.parent_path().string() + "': " + error.message());
    }
  }
  std::string name = path.string() + ".XXXXXX";
  const FileDescriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file) {
    throw EnvironmentError("cannot write '" + path.string() + "': " + reason());
  }
  Unlinker unlinker(name);
  write_all(file.get(), contents, path);
  if (fchmod(file.get(), 0644) != 0 || fsync(file.get()) != 0 || rename(name.c_str(), path.c_str()) != 0) {
    throw EnvironmentError("cannot write '" + path.string() + "': " + reason());
  }
  unlinker.release();
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

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  std::string name = (fs::temp_directory_path() / (std::string(prefix) + ".XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw EnvironmentError("cannot create a temporary folder '" + name + "': " + reason());
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) {
    std::error_code error;
    fs::remove_all(path_, error);  // best effort: a leftover in the temporary folder harms nobody
  }
}

fs::path executable_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw EnvironmentError("cannot find the running program: " + error.message());
  }
  return path;
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
