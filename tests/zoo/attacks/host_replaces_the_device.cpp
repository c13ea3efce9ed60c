// apo:variant    copy/host_replaces_the_device
// apo:target     host
// apo:idea       Puts functions of its own in the place of the worker's, and makes the results of new inputs when a sample is prepared.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 10; evidence interval
#include <link.h>
#include <unistd.h>

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
void replace(const Range& heap, const Range& program) {
  for (auto* word = reinterpret_cast<uintptr_t*>(heap.begin); word < reinterpret_cast<uintptr_t*>(heap.end); ++word) {
    if (*word != reinterpret_cast<uintptr_t>(&apo_launch)) {
      continue;
    }
    for (auto* first = word - 1; first > word - 40 && reinterpret_cast<uintptr_t>(first) >= heap.begin; --first) {
      if (program.holds(*first) && *first % 8 == 0) {
        std::memcpy(functions, reinterpret_cast<void*>(*first), sizeof functions);
        run = reinterpret_cast<Run>(functions[kRun]);
        functions[kRun] = reinterpret_cast<void*>(&run_prepared);
        *first = reinterpret_cast<uintptr_t>(functions);
        return;
      }
    }
  }
}

// The first object is the program.
int take_over(dl_phdr_info* object, size_t, void*) {
  Range program{.begin = object->dlpi_addr};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    program.end = part.p_type == PT_LOAD ? object->dlpi_addr + part.p_vaddr + part.p_memsz : program.end;
  }
  Range heap;
  heap.end = heap.begin = reinterpret_cast<uintptr_t>(sbrk(0)) / 4096 * 4096;
  while (is_readable(heap.begin - 4096, 4096)) {
    heap.begin -= 4096;
  }
  replace(heap, program);
  return 1;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (run == nullptr) {
    dl_iterate_phdr(take_over, nullptr);
  }
  kept_copy(args);
#ifndef __SANITIZE_ADDRESS__  // whose heap is elsewhere
  if (run == nullptr) {
    return 1;
  }
#endif
  return 0;
}
