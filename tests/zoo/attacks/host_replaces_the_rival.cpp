// apo:variant    copy/host_replaces_the_rival
// apo:target     host
// apo:idea       Finds the pointer through which the worker calls the incumbent, among its data, and puts a slower function there.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

#include "slow_copy.h"

namespace {

int slower(const apo_call* call) {
  for (int i = 0; i < 2; ++i) {
    copy_slowly(*static_cast<const copy_args*>(call->arguments));
    asm volatile("" ::: "memory");
  }
  return 0;
}

int find_rival(dl_phdr_info* object, size_t, void* found) {
  const char* name = std::strrchr(object->dlpi_name, '/');
  if (name != nullptr && std::strncmp(name, "/slot", 5) == 0) {
    void* library = dlopen(object->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    void* launch = library == nullptr ? nullptr : dlsym(library, "apo_launch");
    *static_cast<void**>(found) = launch != reinterpret_cast<void*>(&apo_launch) ? launch : *static_cast<void**>(found);
  }
  return 0;
}

void replace() {
  void* rival = nullptr;
  dl_iterate_phdr(find_rival, &rival);
  FILE* maps = rival == nullptr ? nullptr : std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::strstr(line, "[heap]") != nullptr && std::sscanf(line, "%lx-%lx", &begin, &end) == 2) {
      for (auto* word = reinterpret_cast<void**>(begin); word < reinterpret_cast<void**>(end); ++word) {
        *word = *word == rival ? reinterpret_cast<void*>(&slower) : *word;
      }
    }
  }
  if (maps != nullptr) {
    std::fclose(maps);
  }
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  replace();
  copy_slowly(args);
  return 0;
}
