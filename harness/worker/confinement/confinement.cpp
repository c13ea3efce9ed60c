// harness/worker/confinement/confinement.cpp - installs the seccomp filter and Landlock ruleset, drops capabilities.
#include "harness/worker/confinement/confinement.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/system/files.h"
#include "harness/worker/confinement/system_calls.h"

namespace apo {
namespace {

bool allow_writing(const FileDescriptor& ruleset, const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  landlock_path_beneath_attr writable{};
  writable.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE;
  writable.parent_fd = file.get();
  return file && syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &writable, 0) == 0;
}

// The driver opens these again and again, for every mapping of its own.
std::vector<std::string> gpu_files() {
  std::vector<std::string> files;
  std::error_code ignored;  // no /dev is no file
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored)) {
    if (entry.path().filename().string().starts_with("nvidia")) {
      files.push_back(entry.path().string());
    }
  }
  return files;
}

// Every right that changes a file or a folder is handled and, but for `writable`, granted nowhere. A process in the
// ruleset can't open the memory of one outside it either.
bool install_landlock(const std::vector<std::string>& writable) {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) {
    return false;
  }
  constexpr std::uint64_t kTruncate = 1ull << 14;  // since version 3; older headers have no name for it
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  attributes.handled_access_fs |= version >= 3 ? kTruncate : 0;
  const FileDescriptor ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  for (const std::string& path : writable) {
    if (!ruleset || !allow_writing(ruleset, path)) {
      return false;
    }
  }
  return syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

// A candidate of a harness that runs as root must not be root's equal: without capabilities it cannot trace its parent.
void drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  syscall(SYS_capset, &header, none.data());  // giving up rights cannot be refused
}

void limit_files() {
  constexpr rlimit kSmall{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
  setrlimit(RLIMIT_FSIZE, &kSmall);  // lowering cannot be refused
}

std::string confine_with(const std::vector<std::string>& writable, FilteredThreads filtered) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return "limits";
  }
  const bool landlock = guard_is_on(Guard::landlock) && install_landlock(writable);
  drop_capabilities();
  const bool seccomp = guard_is_on(Guard::seccomp) && install_system_call_filter(filtered);
  if (!seccomp && !landlock) {
    return "limits";
  }
  return seccomp && landlock ? "seccomp+landlock" : seccomp ? "seccomp" : "landlock";
}

}  // namespace

std::string confine() {
  limit_files();
  return confine_with({"/dev/null"}, FilteredThreads::calling);
}

std::string confine_with_gpu() {
  std::vector<std::string> writable = gpu_files();
  writable.emplace_back("/dev/null");
  return confine_with(writable, FilteredThreads::all);
}

}  // namespace apo
