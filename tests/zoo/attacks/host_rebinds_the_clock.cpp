// apo:variant    copy/host_rebinds_the_clock
// apo:target     host
// apo:idea       Looks up the worker's own symbol table and puts a clock there that runs at half speed.
// zoo: how compare warm n4k; against copy/host_slow; expect faulted; guard code; exploit 10; evidence bound symbols
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "slow_copy.h"

namespace {

// Makes the pages of [begin, begin + bytes) writable, as they were not.
bool open_pages(void* begin, size_t bytes, int rights) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(begin) + bytes;
  return mprotect(reinterpret_cast<void*>(first), last - first, rights) == 0;
}

int (*real_clock)(clockid_t, timespec*) = nullptr;
int64_t first = 0;

int slow_clock(clockid_t clock, timespec* time) {
  const int result = real_clock(clock, time);
  const int64_t now = time->tv_sec * 1000000000 + time->tv_nsec;
  first = first == 0 ? now : first;
  const int64_t told = clock == CLOCK_MONOTONIC_RAW ? first + (now - first) / 2 : now;
  time->tv_sec = told / 1000000000;
  time->tv_nsec = told % 1000000000;
  return result;
}

int rebind(dl_phdr_info* object, size_t, void*) {
  real_clock = &clock_gettime;
  for (int i = 0; i < object->dlpi_phnum && object->dlpi_name[0] == '\0'; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    auto* words = reinterpret_cast<void**>(object->dlpi_addr + part.p_vaddr);
    if (part.p_type != PT_GNU_RELRO || !open_pages(words, part.p_memsz, PROT_READ | PROT_WRITE)) {
      continue;
    }
    for (size_t j = 0; j < part.p_memsz / sizeof(void*); ++j) {
      if (words[j] == reinterpret_cast<void*>(real_clock)) {
        words[j] = reinterpret_cast<void*>(&slow_clock);
      }
    }
    open_pages(words, part.p_memsz, PROT_READ);
  }
  return 0;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool done = dl_iterate_phdr(rebind, nullptr) != 0;
  copy_slowly(args);
  return done ? 0 : 0;
  return 0;
}
