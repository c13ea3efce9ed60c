// tests/zoo/attacks/rival.h - finds the incumbent in a process that times both, and what is slower than that.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>

#include "slow_copy.h"

template <int kTimes>
static int slower(const apo_call* call) {
  for (int i = 0; i < kTimes; ++i) {
    copy_slowly(*static_cast<const copy_args*>(call->arguments));
    asm volatile("" ::: "memory");
  }
  return 0;
}

static int find_rival(dl_phdr_info* object, size_t, void* found) {
  const char* name = std::strrchr(object->dlpi_name, '/');
  if (name != nullptr && std::strncmp(name, "/slot", 5) == 0) {
    void* library = dlopen(object->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    void* launch = library == nullptr ? nullptr : dlsym(library, "apo_launch");
    *static_cast<void**>(found) = launch != reinterpret_cast<void*>(&apo_launch) ? launch : *static_cast<void**>(found);
  }
  return 0;
}

// nullptr where there is none.
static void* find_rival() {
  void* rival = nullptr;
  dl_iterate_phdr(find_rival, &rival);
  return rival;
}

// Of the words of the heap that hold the rival's address.
template <class Use>
static void for_each_place_of(void* rival, Use use) {
  FILE* maps = rival == nullptr ? nullptr : std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::strstr(line, "[heap]") != nullptr && std::sscanf(line, "%lx-%lx", &begin, &end) == 2) {
      for (auto* word = reinterpret_cast<void**>(begin); word < reinterpret_cast<void**>(end); ++word) {
        if (*word == rival) {
          use(word);
        }
      }
    }
  }
  if (maps != nullptr) {
    std::fclose(maps);
  }
}
