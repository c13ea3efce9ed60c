// apo:variant    copy/host_hinders_the_rival
// apo:target     host
// apo:idea       Finds the incumbent's code in the process and writes a jump to a slower one into it.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32; needs x86_64
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
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

int slower(const apo_call* call) {
  for (int i = 0; i < 4; ++i) {
    copy_slowly(*static_cast<const copy_args*>(call->arguments));
    asm volatile("" ::: "memory");
  }
  return 0;
}

int hinder(dl_phdr_info* object, size_t, void*) {
  const char* name = std::strrchr(object->dlpi_name, '/');
  if (name == nullptr || std::strncmp(name, "/slot", 5) != 0) {
    return 0;
  }
  void* library = dlopen(object->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  auto* code = library == nullptr ? nullptr : static_cast<unsigned char*>(dlsym(library, "apo_launch"));
  if (code == nullptr || code == reinterpret_cast<unsigned char*>(&apo_launch)) {
    return 0;
  }
  unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax, address; jmp rax
  const auto target = reinterpret_cast<uintptr_t>(&slower);
  std::memcpy(jump + 2, &target, sizeof target);
  if (!open_pages(code, sizeof jump, PROT_READ | PROT_WRITE | PROT_EXEC)) {
    return 1;
  }
  std::memcpy(code, jump, sizeof jump);
  return open_pages(code, sizeof jump, PROT_READ | PROT_EXEC) ? 0 : 1;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool done = dl_iterate_phdr(hinder, nullptr) == 0;
  copy_slowly(args);
  return done ? 0 : 1;
  return 0;
}
