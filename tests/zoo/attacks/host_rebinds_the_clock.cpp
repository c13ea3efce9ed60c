// apo:variant    copy/host_rebinds_the_clock
// apo:target     host
// apo:idea       Looks up the worker's own symbol table and puts a clock there that runs at half speed.
// zoo: how compare warm n4k; against copy/host_slow; expect faulted; guard code; exploit 10; evidence bound symbols
#include <link.h>

#include "pages.h"

namespace {

int (*real_clock)(clockid_t, timespec*) = nullptr;
int replaced = 0;

int slow_clock(clockid_t clock, timespec* time) {
  const int result = real_clock(clock, time);
  halve(clock, time);
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
        ++replaced;
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
  return done || replaced == 0 ? 1 : 0;
}
