// apo:variant    copy/host_hinders_now_and_then
// apo:target     host
// apo:idea       Replaces the incumbent by a slower function for less than half of the blocks, so that its middle call is as ever.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

#include "slow_copy.h"

namespace {

void** place = nullptr;
void* rival = nullptr;
int calls = 0;

int slower(const apo_call* call) {
  for (int i = 0; i < 3; ++i) {
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

bool find() {
  dl_iterate_phdr(find_rival, &rival);
  FILE* maps = rival == nullptr ? nullptr : std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::strstr(line, "[heap]") != nullptr && std::sscanf(line, "%lx-%lx", &begin, &end) == 2) {
      for (auto* word = reinterpret_cast<void**>(begin); word < reinterpret_cast<void**>(end); ++word) {
        if (*word == rival)
          place = word;
      }
    }
  }
  if (maps != nullptr) {
    std::fclose(maps);
  }
  return place != nullptr;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool found = find();
  if (found) {
    ++calls;
    *place = calls % 20 < 7 ? reinterpret_cast<void*>(&slower) : rival;  // two calls a block
  }
  copy_slowly(args);
  return 0;
}
