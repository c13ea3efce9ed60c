// apo:variant    copy/host_replaces_the_device
// apo:target     host
// apo:idea       Puts functions of its own in the place of the worker's, and makes the results of new inputs when a sample is prepared.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 10
#include <cstdio>
#include <cstring>

#include "kept_copy.h"

namespace {

// The table of the worker's device: two destructors, load, attach, run, and more that stays as it is.
constexpr size_t kRun = 4;
constexpr size_t kFunctions = 16;
using Run = void* (*)(void*, void*, const void*, size_t);
void* functions[kFunctions];
Run run = nullptr;

void* run_prepared(void* result, void* device, const void* request, size_t index) {
  make_new_results();
  return run(result, device, request, index);
}

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

// On the heap the device has the addresses of both functions side by side, and that of its table not far before them.
void replace(const Range& heap, const Range& constants) {
  for (auto* word = reinterpret_cast<uintptr_t*>(heap.begin); word < reinterpret_cast<uintptr_t*>(heap.end); ++word) {
    if (*word != reinterpret_cast<uintptr_t>(&apo_launch)) {
      continue;
    }
    for (auto* first = word - 1; first > word - 40 && reinterpret_cast<uintptr_t>(first) >= heap.begin; --first) {
      if (constants.holds(*first) && *first % 8 == 0) {
        std::memcpy(functions, reinterpret_cast<void*>(*first), sizeof functions);
        run = reinterpret_cast<Run>(functions[kRun]);
        functions[kRun] = reinterpret_cast<void*>(&run_prepared);
        *first = reinterpret_cast<uintptr_t>(functions);
        return;
      }
    }
  }
}

bool take_over() {
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  Range heap;
  Range constants;
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    Range range;
    if (std::sscanf(line, "%lx-%lx", &range.begin, &range.end) != 2) {
      continue;
    }
    heap = std::strstr(line, "[heap]") != nullptr ? range : heap;
    constants = std::strstr(line, "/apo\n") != nullptr && std::strstr(line, " r--p ") != nullptr ? range : constants;
  }
  if (maps != nullptr) {
    std::fclose(maps);
  }
  replace(heap, constants);
  return true;
}
}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool done = take_over();
  kept_copy(args);
  return done ? 0 : 1;
}
