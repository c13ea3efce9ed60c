// tests/worker/confinement/confinement_test.cpp - the confinement of a process that has threads and a GPU already.
#include "harness/worker/confinement/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "harness/core/system/files.h"

namespace apo {
namespace {

constexpr int kNotHere = 99;  // this kernel lacks what the test is about

// The wait status of a process of its own that does this and exits with what it returns.
int status_of(const std::function<int()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(action());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void skip_without_its_subject(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotHere) {
    GTEST_SKIP() << "this kernel has no seccomp, or no Landlock";
  }
}

void expect_ended_well(int status) {
  skip_without_its_subject(status);
  EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kNotHere)) << status;
}

// By the filter.
void expect_stopped(int status) {
  skip_without_its_subject(status);
  const bool not_here = WIFEXITED(status) && WEXITSTATUS(status) == kNotHere;
  EXPECT_TRUE(not_here || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)) << status;
}

TEST(ConfineWithGpu, HoldsThreadsThatWereThereBefore) {
  const int status = status_of([] {
    std::atomic<bool> confined{false};
    int opened = 0;
    std::thread before([&] {
      while (!confined) {
        std::this_thread::yield();
      }
      opened = socket(AF_UNIX, SOCK_STREAM, 0);
    });
    const std::string held = confine_with_gpu();
    confined = true;
    before.join();
    return held.find("seccomp") == std::string::npos ? kNotHere : opened < 0 ? 0 : 1;
  });
  expect_ended_well(status);
}

TEST(ConfineWithGpu, LetsFilesBeReadAndNoneBeWrittenButDevNull) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "file";
  write_file_atomically(file, "here before");
  const int status = status_of([&] {
    if (confine_with_gpu().find("landlock") == std::string::npos) {
      return kNotHere;
    }
    const bool reads = open(file.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
    const bool writes = open(file.c_str(), O_WRONLY | O_CLOEXEC) >= 0;
    const bool creates = open((file + ".new").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
    const bool discards = open("/dev/null", O_WRONLY | O_CLOEXEC) >= 0;
    return reads && discards && !writes && !creates ? 0 : 1;
  });
  expect_ended_well(status);
}

TEST(ConfineWithGpu, StopsAProcessThatStartsAnother) {
  const int status = status_of([] {
    if (confine_with_gpu().find("seccomp") == std::string::npos) {
      return kNotHere;
    }
    const pid_t child = fork();
    return child == 0 ? 0 : 1;
  });
  expect_stopped(status);
}

TEST(Confine, OpensNoFileOutsideOfTheRoom) {
  const TemporaryFolder room;
  write_file_atomically(room.path() / "own", "here before");
  const std::string own = room.path() / "own";
  const int status = status_of([&] {
    const Confinement confinement = confine(room.path().string());
    if (!confinement.is_in_room && confinement.means.find("landlock") == std::string::npos) {
      return kNotHere;
    }
    const auto opens = [](const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0; };
    const bool reads = opens("/etc/passwd") || opens("/proc/self/cmdline") || opens("/");
    return opens(confinement.is_in_room ? "/own" : own) && !reads ? 0 : 1;
  });
  expect_ended_well(status);
}

TEST(Confine, LetsCodeReserveAddressesPinItsThreadAndMakeAFileInMemory) {
  const TemporaryFolder room;
  const int status = status_of([&] {
    if (confine(room.path().string()).means.find("landlock") == std::string::npos) {
      return kNotHere;
    }
    constexpr std::size_t kReserved = std::size_t{64} << 30;
    const bool reserves =
        mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    const bool pins = sched_setaffinity(0, sizeof one, &one) == 0;
    const FileDescriptor memory(memfd_create("ring", MFD_CLOEXEC));
    const bool grows = ftruncate(memory.get(), 4 << 20) == 0;
    return reserves && pins && grows ? 0 : 1;
  });
  expect_ended_well(status);
}

// The kernel looks at 32 bits of a request, an option and a process: so has the filter to.
TEST(ConfineWithGpu, ChecksArgumentsAsTheKernelReadsThem) {
  constexpr std::uint64_t kGarbage = std::uint64_t{1} << 40;
  const int status = status_of([] {
    if (confine_with_gpu().find("seccomp") == std::string::npos) {
      return kNotHere;
    }
    const FileDescriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const auto refused = [](long result) { return result == -1 && errno == EPERM; };
    long flags = 0;
    const bool ioctls = refused(syscall(SYS_ioctl, file.get(), kGarbage | FS_IOC_SETFLAGS, &flags)) &&
                        !refused(syscall(SYS_ioctl, file.get(), FS_IOC_GETFLAGS, &flags));
    const bool prctls = refused(syscall(SYS_prctl, kGarbage | PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)) &&
                        !refused(syscall(SYS_prctl, PR_GET_TSC, &flags, 0, 0, 0));
    rlimit limit{};
    const bool limits = syscall(SYS_prlimit64, 0, RLIMIT_CORE, nullptr, &limit) == 0;
    const bool own = syscall(SYS_kill, getpid(), 0) == 0;
    return ioctls && prctls && limits && own ? 0 : 1;
  });
  expect_ended_well(status);
}

TEST(ConfineWithGpu, StopsAProcessThatSignalsOrLimitsAnother) {
  for (const std::function<long()>& forbidden : std::initializer_list<std::function<long()>>{
           [] { return syscall(SYS_kill, 1, 0); }, [] { return syscall(SYS_tgkill, 1, 1, 0); },
           [] { return syscall(SYS_prlimit64, 0, RLIMIT_CORE, std::uint64_t{1} << 40, nullptr); },
           [] { return syscall(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0); }}) {
    const int status = status_of([&] {
      if (confine_with_gpu().find("seccomp") == std::string::npos) {
        return kNotHere;
      }
      forbidden();
      return 1;
    });
    expect_stopped(status);
  }
}

}  // namespace
}  // namespace apo
