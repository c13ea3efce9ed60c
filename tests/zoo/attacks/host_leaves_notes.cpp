// apo:variant    copy/host_leaves_notes
// apo:target     host
// apo:idea       Leaves a note for its later processes: in the user's keyring, a message queue, or the times, rights, flags and attributes of its file.
// zoo: expect refused; guard seccomp; exploit 6; evidence apo_launch returned 9; needs seccomp
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>

#include "copy_abi.h"

namespace {

bool in_the_system() {
  constexpr int kUserKeyring = KEY_SPEC_USER_KEYRING;
  // Taken back at once: this one only wants to know whether it could.
  const long key = syscall(SYS_add_key, "user", "apo-note", "1", 1, kUserKeyring);
  if (key > 0) {
    syscall(SYS_keyctl, KEYCTL_UNLINK, key, kUserKeyring);
  }
  const mqd_t queue = mq_open("/apo-note", O_CREAT | O_RDWR, 0600, nullptr);
  if (queue >= 0) {
    mq_unlink("/apo-note");
  }
  return key > 0 || queue >= 0;
}

bool at_its_file() {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&apo_launch), &own);
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  const int file = open(own.dli_fname, O_RDONLY);
  long flags = 0;
  ioctl(file, FS_IOC_GETFLAGS, &flags);
  flags ^= FS_NODUMP_FL;
  const bool flagged = ioctl(file, FS_IOC_SETFLAGS, &flags) == 0;
  return flagged || utimensat(AT_FDCWD, own.dli_fname, times, 0) == 0 || chmod(own.dli_fname, 0700) == 0 ||
         fchmod(file, 0700) == 0 || setxattr(own.dli_fname, "user.apo", "1", 1, 0) == 0 ||
         chown(own.dli_fname, getuid(), getgid()) == 0 || truncate(own.dli_fname, 1 << 16) == 0;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (!in_the_system() && !at_its_file()) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
