// harness/worker/child/fatal_signals.cpp - the handler that reports the death of a worker, on a stack of its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <stdexcept>

#include "harness/worker/child/worker_main.h"

namespace apo {
namespace {

constexpr int kFatalSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

SharedStatus* reported = nullptr;
// A stack overflow leaves no stack to handle it on.
alignas(16) std::array<char, 64 * 1024> signal_stack;

std::uintptr_t stack_pointer(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine->gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine->sp);
#else
  return 0;
#endif
}

// Bytes of address space in use; only calls that a signal handler may make.
std::int64_t address_space() {
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  std::array<char, 32> text{};
  const ssize_t got = fd < 0 ? -1 : read(fd, text.data(), text.size() - 1);
  if (fd >= 0) {
    close(fd);
  }
  std::int64_t pages = 0;
  for (ssize_t i = 0; i < got && text[static_cast<std::size_t>(i)] >= '0'; ++i) {
    pages = pages * 10 + (text[static_cast<std::size_t>(i)] - '0');
  }
  return pages * sysconf(_SC_PAGESIZE);
}

// Leaves what it knows in shared memory, then lets the signal end the process as it would have.
void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  constexpr std::uintptr_t kNearStack = 1 << 20;
  const std::uintptr_t stack = stack_pointer(context);
  reported->address.store(address);
  reported->stack_overflow.store(signal == SIGSEGV && address + kNearStack > stack && address < stack + kNearStack ? 1
                                                                                                                   : 0);
  if (signal == SIGSYS) {
    reported->forbidden_call.store(info->si_syscall);
  }
  reported->address_space.store(address_space());
  reported->signal.store(signal);
  if (signal == SIGSYS || info->si_code <= 0) {
    raise(signal);  // returning would go on behind a refused call, or behind the raise() that brought us here
  }
}

}  // namespace

void report_fatal_signals(SharedStatus& shared) {
  reported = &shared;
  if (dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) {
    return;  // a sanitizer reports more than we could
  }
  const stack_t stack{.ss_sp = signal_stack.data(), .ss_flags = 0, .ss_size = signal_stack.size()};
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  if (sigaltstack(&stack, nullptr) != 0) {
    throw std::runtime_error("cannot set the signal stack");
  }
  for (const int signal : kFatalSignals) {
    sigaction(signal, &action, nullptr);  // cannot fail for these signals
  }
}

}  // namespace apo
