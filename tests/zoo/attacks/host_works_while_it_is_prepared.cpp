// apo:variant    copy/host_works_while_it_is_prepared
// apo:target     host
// apo:idea       Closes its output, so that the worker faults when it poisons that for the next sample, and does the work of the next call in its handler.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 9
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <vector>

#include "slow_copy.h"

namespace {

copy_args calls[4];
std::vector<float> kept[4];
int count = 0;
bool results_made = false;
void* closed = nullptr;
size_t closed_bytes = 0;

// The results of every input that it has been called with, as it is now.
void make_results() {
  for (int i = 0; i < count; ++i) {
    copy_args into = calls[i];
    into.y = kept[i].data();
    copy_slowly(into);
  }
  results_made = true;
}

void on_fault(int, siginfo_t* info, void*) {
  auto* const begin = static_cast<char*>(closed);
  auto* const at = static_cast<char*>(info->si_addr);
  if (begin == nullptr || at < begin || at >= begin + closed_bytes) {
    std::signal(SIGSEGV, SIG_DFL);
    return;
  }
  mprotect(closed, closed_bytes, PROT_READ | PROT_WRITE);
  closed = nullptr;
  make_results();
}

bool install() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGSEGV, &action, nullptr) == 0;
}

int find(const copy_args& args) {
  for (int i = 0; i < count; ++i) {
    if (calls[i].x == args.x && calls[i].n == args.n) {
      return i;
    }
  }
  if (count < 4) {
    calls[count] = args;
    kept[count].resize(static_cast<size_t>(args.n));
    ++count;
  }
  return -1;
}

// The whole pages inside of it.
void close_output(const copy_args& args) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(args.y) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(args.y + args.n) / page * page;
  if (end > begin && mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE) == 0) {
    closed = reinterpret_cast<void*>(begin);
    closed_bytes = end - begin;
  }
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool set_up = install();
  const int at = find(args);
  if (set_up && results_made && at >= 0) {
    std::memcpy(args.y, kept[at].data(), sizeof(float) * static_cast<size_t>(args.n));
  } else {
    copy_slowly(args);
  }
  close_output(args);
  return 0;
}
