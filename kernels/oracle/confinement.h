// kernels/oracle/confinement.h - what a family's program may do outside of its request: read files, and nothing else.
#pragma once

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace apo::oracle {

// No file or folder is written, made or removed.
inline void refuse_writing() {
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  const long file = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (file >= 0) {  // else this kernel has no Landlock
    syscall(SYS_landlock_restrict_self, file, 0);
    close(static_cast<int>(file));
  }
}

// No process is started, signalled or inspected, no program run, and no socket opened: EPERM.
inline void refuse_calls() {
  constexpr std::uint32_t kRefused[] = {
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_utime,
#endif
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_connect,
    SYS_ptrace,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_pidfd_open,
    SYS_io_uring_setup,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_utimensat,
    SYS_truncate,
    SYS_setxattr,
    SYS_unshare,
    SYS_setns
  };
#if defined(__x86_64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
  return;
#endif
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kIfSet = BPF_JMP | BPF_JSET | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  std::vector<sock_filter> filter = {
      {kLoad, 0, 0, offsetof(seccomp_data, arch)},
      {kIfEqual, 1, 0, kArchitecture},
      {kReturn, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {kIfEqual, 0, 1, SYS_clone3},  // its flags cannot be seen from here; the C library falls back to clone
      {kReturn, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
      {kIfEqual, 0, 4, SYS_clone},  // of a thread
      {kLoad, 0, 0, offsetof(seccomp_data, args)},
      {kIfSet, 1, 0, CLONE_THREAD},
      {kReturn, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {kReturn, 0, 0, SECCOMP_RET_ALLOW}};
  for (const std::uint32_t call : kRefused) {
    filter.push_back({kIfEqual, 0, 1, call});
    filter.push_back({kReturn, 0, 0, SECCOMP_RET_ERRNO | EPERM});
  }
  filter.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog whole{static_cast<unsigned short>(filter.size()), filter.data()};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);  // fails where the kernel has none
}

inline int request_file = -1;

// Before any code of the family runs, its constructors included.
inline void confine(int argc, char** argv, char**) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  request_file = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
    refuse_writing();
    refuse_calls();
  }
}

}  // namespace apo::oracle
