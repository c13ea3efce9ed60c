// harness/worker/confinement/confinement.cpp - installs the seccomp filter and Landlock ruleset, drops capabilities.
#include "harness/worker/confinement/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/system/files.h"

namespace apo {

namespace {

bool allow(std::uint64_t access, const FileDescriptor& ruleset, const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = file.get();
  return file && syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
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

// Every right that changes a file or a folder is handled and, but for `writable`, granted nowhere; with a `room` no
// file outside of it is read. A process in the ruleset can't open the memory of one outside it either.
bool install_landlock(const std::vector<std::string>& writable, const std::string& room) {
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
  attributes.handled_access_fs |= room.empty() ? 0 : LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  const FileDescriptor ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  for (const std::string& path : writable) {
    if (!ruleset || !allow(LANDLOCK_ACCESS_FS_WRITE_FILE, ruleset, path)) {
      return false;
    }
  }
  if (!room.empty() && !allow(LANDLOCK_ACCESS_FS_READ_FILE, ruleset, room)) {
    return false;
  }
  return syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

// A candidate of a harness that runs as root must not be root's equal: without capabilities it cannot trace its parent.
void drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  syscall(SYS_capset, &header, none.data());  // giving up rights cannot be refused
}

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
    {SYS_io_uring_setup, ENOSYS},
    {SYS_openat2, ENOSYS},  // its flags cannot be seen from here
    {SYS_socket, EACCES},
    {SYS_socketpair, EACCES},  // its ends could be given names, by which other processes find them
    {SYS_bind, EACCES},
    {SYS_connect, EACCES},
    {SYS_chroot, EPERM},
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

// Opening a file is not refused here, but fails where there is none to open.
constexpr unsigned kOpening[] = {
#ifdef SYS_open
    SYS_open,
#endif
    SYS_openat};

using SystemCallFilter = std::unique_ptr<void, decltype(&seccomp_release)>;

bool add_rule(const SystemCallFilter& filter, std::uint32_t action, unsigned call,
              std::initializer_list<scmp_arg_cmp> when = {}) {
  return seccomp_rule_add_array(filter.get(), action, static_cast<int>(call), static_cast<unsigned>(when.size()),
                                when.begin()) == 0;
}

// The kernel reads these arguments as 32 bits, whatever is in the others.
scmp_arg_cmp low_half_is(unsigned argument, std::uint32_t value) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = 0xffffffff, .datum_b = value};
}

scmp_arg_cmp is_not(unsigned argument, std::uint64_t value) {
  return {.arg = argument, .op = SCMP_CMP_NE, .datum_a = value, .datum_b = 0};
}

scmp_arg_cmp has_bit(unsigned argument, std::uint64_t bit) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = bit, .datum_b = bit};
}

scmp_arg_cmp lacks_bit(unsigned argument, std::uint64_t bit) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = bit, .datum_b = 0};
}

bool forbid_and_refuse(const SystemCallFilter& filter, bool name_refused) {
  // The flags of clone3 cannot be seen from here; the C library falls back to clone. A thread that asks for the CPU
  // that it has is told that it has it.
  bool added = add_rule(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_clone3) &&
               add_rule(filter, SCMP_ACT_ERRNO(0), SYS_sched_setaffinity);
  for (const NamedCall& call : kForbidden) {
    added = added && add_rule(filter, SCMP_ACT_TRAP, call.number);
  }
  for (const RefusedCall& call : kRefused) {
    added = added && add_rule(filter, name_refused ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(call.error), call.number);
  }
  for (const unsigned call : kOpening) {
    // A descriptor of a folder would lead out of the room.
    const unsigned flags = call == SYS_openat ? 2 : 1;
    added = added && (name_refused ? add_rule(filter, SCMP_ACT_TRAP, call, {is_not(5, kFromHandler)})
                                   : add_rule(filter, SCMP_ACT_ERRNO(EACCES), call, {has_bit(flags, O_PATH)}));
  }
  return added;
}

bool check_arguments(const SystemCallFilter& filter) {
  const auto self = static_cast<std::uint64_t>(getpid());
  bool added = add_rule(filter, SCMP_ACT_TRAP, SYS_clone, {lacks_bit(0, CLONE_THREAD)}) &&
               add_rule(filter, SCMP_ACT_TRAP, SYS_kill, {is_not(0, self)}) &&
               add_rule(filter, SCMP_ACT_TRAP, SYS_tgkill, {is_not(0, self)}) &&
               // Reading a limit passes no new one.
               add_rule(filter, SCMP_ACT_TRAP, SYS_prlimit64, {is_not(2, 0)}) &&
               add_rule(filter, SCMP_ACT_TRAP, SYS_prctl, {low_half_is(0, PR_SET_PDEATHSIG)});
  // What stays with a file, by a descriptor for reading: a lease, a hint for its writers, and flags.
  constexpr std::array<std::uint32_t, 3> kOfFiles = {F_SETLEASE, F_SET_RW_HINT, F_SET_FILE_RW_HINT};
  for (const std::uint32_t command : kOfFiles) {
    added = added && add_rule(filter, SCMP_ACT_ERRNO(EPERM), SYS_fcntl, {low_half_is(1, command)});
  }
  constexpr std::array<std::uint32_t, 3> kFileFlags = {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION};
  for (const std::uint32_t request : kFileFlags) {
    added = added && add_rule(filter, SCMP_ACT_ERRNO(EPERM), SYS_ioctl, {low_half_is(1, request)});
  }
  // The last of them would take the worker's clock away.
  constexpr std::array<std::uint32_t, 3> kOfTheWorker = {PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH, PR_SET_TSC};
  for (const std::uint32_t option : kOfTheWorker) {
    added = added && add_rule(filter, SCMP_ACT_ERRNO(EPERM), SYS_prctl, {low_half_is(0, option)});
  }
  return added;
}

// Installs the filter for good, for all threads. Returns false, and changes nothing, where this kernel or architecture
// has no such filter.
bool install_system_call_filter(bool name_refused) {
  const SystemCallFilter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  // CTL_SSB: without it some kernels switch speculation off in the whole process, which slows honest code. BADARCH: the
  // 32-bit and x32 ABIs have numbers of their own.
  return filter != nullptr && seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_SSB, 1) == 0 &&
         seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
         seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0 && forbid_and_refuse(filter, name_refused) &&
         check_arguments(filter) && seccomp_load(filter.get()) == 0;
}

// Files are not written, so that this is for those in memory alone; where Landlock is missing, for all.
void limit_files(bool landlock) {
  const rlim_t most = landlock ? rlim_t{1} << 30 : rlim_t{1} << 20;
  const rlimit limit{.rlim_cur = most, .rlim_max = most};
  setrlimit(RLIMIT_FSIZE, &limit);  // lowering cannot be refused
}

enum class FilesMayGrow : std::uint8_t { no, yes };

// Everything but the room. Returns the names of what this kernel granted.
std::string hold(const std::vector<std::string>& writable, const std::string& readable, FilesMayGrow grow,
                 bool name_refused) {
  const bool privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  const bool landlock = privileges && guard_is_on(Guard::landlock) && install_landlock(writable, readable);
  if (grow == FilesMayGrow::no) {
    limit_files(landlock);
  }
  drop_capabilities();
  const bool seccomp = privileges && guard_is_on(Guard::seccomp) && install_system_call_filter(name_refused);
  return seccomp && landlock ? "seccomp+landlock" : seccomp ? "seccomp" : landlock ? "landlock" : "limits";
}

// Makes the folder the root of all paths, for all threads. It takes an administrator, or the right to be one in a
// namespace of its own, which many containers do not give.
bool enter(const std::string& room) {
  const bool entered = chroot(room.c_str()) == 0 || (unshare(CLONE_NEWUSER) == 0 && chroot(room.c_str()) == 0);
  return entered && chdir("/") == 0;
}

}  // namespace

Confinement confine(const std::string& room, bool name_refused) {
  Confinement confinement{.is_in_room = !room.empty() && enter(room)};
  const std::vector<std::string> writable(room.empty() ? 1 : 0, "/dev/null");
  confinement.means = hold(writable, confinement.is_in_room ? "/" : room, FilesMayGrow::no, name_refused);
  confinement.means += confinement.is_in_room ? "+room" : "";
  return confinement;
}

std::string confine_with_gpu() {
  std::vector<std::string> writable = gpu_files();
  writable.emplace_back("/dev/null");
  return hold(writable, "", FilesMayGrow::yes, false);
}

std::optional<int> refusal_of(int call) {
  const auto is_call = [call](const auto& one) { return static_cast<int>(one.number) == call; };
  if (const auto* refused = std::ranges::find_if(kRefused, is_call); refused != std::end(kRefused)) {
    return static_cast<int>(refused->error);
  }
  const bool opens = std::ranges::find(kOpening, static_cast<unsigned>(call)) != std::end(kOpening);
  return opens ? std::optional(0) : std::nullopt;
}

std::string system_call_name(int number) {
  const auto is_number = [&](const NamedCall& call) { return static_cast<int>(call.number) == number; };
  if (const auto* call = std::find_if(std::begin(kForbidden), std::end(kForbidden), is_number);
      call != std::end(kForbidden)) {
    return call->name;
  }
  if (const auto* call = std::find_if(std::begin(kChecked), std::end(kChecked), is_number);
      call != std::end(kChecked)) {
    return call->name;
  }
  const std::unique_ptr<char, decltype(&std::free)> name(seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number),
                                                         &std::free);
  return name != nullptr ? name.get() : fmt::format("system call {}", number);
}

}  // namespace apo
