// harness/worker/child/fatal_signals.cpp - the handlers that report the death of a worker, and calls that it was
// refused.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "harness/worker/child/worker_main.h"
#include "harness/worker/confinement/confinement.h"

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

int memory_in_use = -1;  // /proc/self/statm, which cannot be opened when it is wanted

// The sixth number; only calls that a signal handler may make.
std::int64_t data_bytes() {
  constexpr int kBefore = 5;
  std::array<char, 128> text{};
  const ssize_t got = pread(memory_in_use, text.data(), text.size() - 1, 0);
  int blanks = 0;
  std::int64_t pages = 0;
  for (ssize_t i = 0; i < got && blanks <= kBefore; ++i) {
    const char letter = text[static_cast<std::size_t>(i)];
    blanks += letter == ' ' ? 1 : 0;
    pages = blanks == kBefore && letter >= '0' ? pages * 10 + (letter - '0') : pages;
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
  reported->data_bytes.store(data_bytes());
  reported->signal.store(signal);
  if (signal == SIGSYS || info->si_code <= 0) {
    raise(signal);  // returning would go on behind a refused call, or behind the raise() that brought us here
  }
}

constexpr std::size_t kArguments = 4;
using Arguments = std::array<std::uint64_t, kArguments>;

Arguments arguments_of(const ucontext_t* context) {
#if defined(__x86_64__)
  const auto* registers = context->uc_mcontext.gregs;
  return {static_cast<std::uint64_t>(registers[REG_RDI]), static_cast<std::uint64_t>(registers[REG_RSI]),
          static_cast<std::uint64_t>(registers[REG_RDX]), static_cast<std::uint64_t>(registers[REG_R10])};
#elif defined(__aarch64__)
  const auto* registers = context->uc_mcontext.regs;
  return {registers[0], registers[1], registers[2], registers[3]};
#else
  return {};
#endif
}

void return_from_call(ucontext_t* context, long result) {
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
  context->uc_mcontext.regs[0] = static_cast<std::uint64_t>(result);
#endif
}

// Answers a refused call in place of the system, and keeps it when it fails.
void on_refused_call(int signal, siginfo_t* info, void* context) {
  const std::optional<int> refusal = refusal_of(info->si_syscall);
  if (!refusal) {
    std::signal(SIGSYS, SIG_DFL);
    on_fatal_signal(signal, info, context);
    return;
  }
  const int before = errno;
  long result = -*refusal;
  const char* path = "";
  if (*refusal == 0) {
    const Arguments given = arguments_of(static_cast<ucontext_t*>(context));
    const std::size_t first = info->si_syscall == SYS_openat ? 1 : 0;
    path = reinterpret_cast<const char*>(given.at(first));
    result = syscall(SYS_openat, first == 1 ? static_cast<long>(given[0]) : long{AT_FDCWD}, path, given.at(first + 1),
                     given.at(first + 2), 0, kFromHandler);
    result = result < 0 ? -errno : result;
  }
  if (result < 0) {
    reported->refused_call.store(info->si_syscall);
    std::strncpy(reported->refused_path.data(), path, reported->refused_path.size() - 1);
  }
  errno = before;
  return_from_call(static_cast<ucontext_t*>(context), result);
}

}  // namespace

void report_fatal_signals(SharedStatus& shared, bool name_refused) {
  reported = &shared;
  memory_in_use = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
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
  if (name_refused) {
    action.sa_sigaction = on_refused_call;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
    sigaction(SIGSYS, &action, nullptr);
  }
}

}  // namespace apo
