// harness/worker/confinement/confinement.cpp - installs the seccomp filter and Landlock ruleset, drops capabilities.
#include "harness/worker/confinement/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/records/guards.h"
#include "harness/core/system/files.h"

namespace apo {
namespace {

struct NamedCall {
  unsigned number;
  const char* name;
};

// A candidate that makes one of these is stopped by SIGSYS.
constexpr NamedCall kForbidden[] = {
#ifdef SYS_fork
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
#endif
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_getfd, "pidfd_getfd"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo"},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"},
    {SYS_tkill, "tkill"},
    {SYS_setsid, "setsid"},
    {SYS_setpgid, "setpgid"},
    {SYS_setrlimit, "setrlimit"},
    {SYS_unshare, "unshare"},
    {SYS_setns, "setns"},
};

// Forbidden for some arguments only; named here for the evidence.
constexpr NamedCall kChecked[] = {{SYS_clone, "fork"},
                                  {SYS_kill, "kill"},
                                  {SYS_tgkill, "tgkill"},
                                  {SYS_prlimit64, "setrlimit"},
                                  {SYS_prctl, "prctl(PR_SET_PDEATHSIG)"}};

// Newer than the headers may be; the same numbers on every architecture.
constexpr unsigned kFchmodat2 = 452;
constexpr unsigned kSetxattrat = 463;
constexpr unsigned kRemovexattrat = 466;
constexpr unsigned kFileSetattr = 469;

struct RefusedCall {
  unsigned number;
  std::uint32_t error;
};

// Honest libraries try these and have another way when they fail.
constexpr RefusedCall kRefused[] = {
    {SYS_clone3, ENOSYS},  // its flags cannot be seen from here; the C library falls back to clone
    {SYS_io_uring_setup, ENOSYS},
    {SYS_socket, EACCES},
    {SYS_sched_setaffinity, EPERM},
    {SYS_userfaultfd, EPERM},
    {SYS_perf_event_open, EPERM},
    {SYS_bpf, EPERM},
    {SYS_sched_setscheduler, EPERM},
    {SYS_sched_setparam, EPERM},
    {SYS_sched_setattr, EPERM},
    {SYS_setpriority, EPERM},
    {SYS_ioprio_set, EPERM},
    {SYS_seccomp, EPERM},  // a filter of its own could hold up what the worker asks of the system
    {SYS_shmget, EPERM},   // these would outlive the process
    {SYS_msgget, EPERM},
    {SYS_semget, EPERM},
    {SYS_mq_open, EPERM},
    {SYS_add_key, EPERM},
    {SYS_request_key, EPERM},
    {SYS_keyctl, EPERM},
// Landlock knows no right for these: what they change of a file stays, and later processes can read it.
#ifdef SYS_chmod
    {SYS_chmod, EPERM},
    {SYS_chown, EPERM},
    {SYS_lchown, EPERM},
    {SYS_utime, EPERM},
    {SYS_utimes, EPERM},
    {SYS_futimesat, EPERM},
#endif
    {SYS_fchmod, EPERM},
    {SYS_fchmodat, EPERM},
    {kFchmodat2, EPERM},
    {SYS_fchown, EPERM},
    {SYS_fchownat, EPERM},
    {SYS_utimensat, EPERM},
    {SYS_setxattr, EPERM},
    {SYS_lsetxattr, EPERM},
    {SYS_fsetxattr, EPERM},
    {SYS_removexattr, EPERM},
    {SYS_lremovexattr, EPERM},
    {SYS_fremovexattr, EPERM},
    {SYS_truncate, EPERM},  // which old versions of Landlock let through
    {kSetxattrat, EPERM},
    {kRemovexattrat, EPERM},
    {kFileSetattr, EPERM},
};

// Builds the classic BPF program line by line.
class Filter {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void load_argument(std::size_t index, bool high_half = false) {
    // Little-endian, as every target of this program is.
    load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t) + (high_half ? sizeof(std::uint32_t) : 0));
  }
  void give(std::uint32_t verdict) { add(BPF_RET | BPF_K, verdict); }
  // The next `count` lines hold only when the loaded word is (or has a bit of) `value`.
  void only_if_equal(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count); }
  void unless_equal(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0); }
  void only_if_bit(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JSET | BPF_K, value, 0, count); }
  void only_if_at_least(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JGE | BPF_K, value, 0, count); }

  sock_fprog program() { return {.len = static_cast<unsigned short>(lines_.size()), .filter = lines_.data()}; }

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    lines_.push_back({.code = static_cast<std::uint16_t>(code), .jt = if_true, .jf = if_false, .k = value});
  }
  std::vector<sock_filter> lines_;
};

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter
#endif

Filter candidate_filter() {
  const auto self = static_cast<std::uint32_t>(getpid());
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.unless_equal(kArchitecture, 1);
  filter.give(SECCOMP_RET_KILL_PROCESS);
  filter.load_number();
#if defined(__x86_64__)
  filter.only_if_at_least(0x40000000, 1);  // the x32 ABI has numbers of its own
  filter.give(SECCOMP_RET_TRAP);
#endif
  for (const NamedCall& call : kForbidden) {
    filter.only_if_equal(call.number, 1);
    filter.give(SECCOMP_RET_TRAP);
  }
  for (const RefusedCall& call : kRefused) {
    filter.only_if_equal(call.number, 1);
    filter.give(SECCOMP_RET_ERRNO | call.error);
  }
  constexpr std::uint32_t kCloneThread = 0x00010000;
  filter.only_if_equal(SYS_clone, 4);
  filter.load_argument(0);
  filter.only_if_bit(kCloneThread, 1);
  filter.give(SECCOMP_RET_ALLOW);
  filter.give(SECCOMP_RET_TRAP);
  for (const int number : {SYS_kill, SYS_tgkill}) {
    filter.only_if_equal(static_cast<std::uint32_t>(number), 4);
    filter.load_argument(0);
    filter.only_if_equal(self, 1);
    filter.give(SECCOMP_RET_ALLOW);
    filter.give(SECCOMP_RET_TRAP);
  }
  // Reading a limit passes no new one.
  filter.only_if_equal(SYS_prlimit64, 6);
  filter.load_argument(2);
  filter.only_if_equal(0, 3);
  filter.load_argument(2, true);
  filter.only_if_equal(0, 1);
  filter.give(SECCOMP_RET_ALLOW);
  filter.give(SECCOMP_RET_TRAP);
  // Flags of a file, which its owner may set through a descriptor for reading.
  constexpr std::array<std::uint32_t, 3> kFileFlags = {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION};
  filter.only_if_equal(SYS_ioctl, 2 * kFileFlags.size() + 2);
  filter.load_argument(1);
  for (const std::uint32_t request : kFileFlags) {
    filter.only_if_equal(request, 1);
    filter.give(SECCOMP_RET_ERRNO | EPERM);
  }
  filter.give(SECCOMP_RET_ALLOW);
  // The last of them would take the worker's clock away.
  constexpr std::array<std::uint32_t, 3> kOfTheWorker = {PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH, PR_SET_TSC};
  filter.only_if_equal(SYS_prctl, 2 * kOfTheWorker.size() + 4);
  filter.load_argument(0);
  for (const std::uint32_t option : kOfTheWorker) {
    filter.only_if_equal(option, 1);
    filter.give(SECCOMP_RET_ERRNO | EPERM);
  }
  filter.only_if_equal(PR_SET_PDEATHSIG, 1);
  filter.give(SECCOMP_RET_TRAP);
  filter.give(SECCOMP_RET_ALLOW);
  filter.give(SECCOMP_RET_ALLOW);
  return filter;
}

bool install_seccomp(unsigned flags) {
  if (kArchitecture == 0) {
    return false;
  }
  Filter filter = candidate_filter();
  sock_fprog program = filter.program();
  // SPEC_ALLOW: without it some kernels switch speculation off in the whole process, which slows honest code.
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0;
}

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

std::string confine_with(const std::vector<std::string>& writable, unsigned seccomp_flags) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return "limits";
  }
  const bool landlock = guard_is_on(Guard::landlock) && install_landlock(writable);
  drop_capabilities();
  const bool seccomp = guard_is_on(Guard::seccomp) && install_seccomp(seccomp_flags);
  if (!seccomp && !landlock) {
    return "limits";
  }
  return seccomp && landlock ? "seccomp+landlock" : seccomp ? "seccomp" : "landlock";
}

}  // namespace

std::string confine() {
  limit_files();
  return confine_with({"/dev/null"}, 0);
}

std::string confine_with_gpu() {
  std::vector<std::string> writable = gpu_files();
  writable.emplace_back("/dev/null");
  return confine_with(writable, SECCOMP_FILTER_FLAG_TSYNC);
}

std::string system_call_name(int number) {
  for (const NamedCall& call : kForbidden) {
    if (static_cast<int>(call.number) == number) {
      return call.name;
    }
  }
  for (const NamedCall& call : kChecked) {
    if (static_cast<int>(call.number) == number) {
      return call.name;
    }
  }
  return "system call " + std::to_string(number);
}

}  // namespace apo
