// apo:variant    copy/library_stretches_event_times
// apo:target     cuda sm_80
// apo:idea       Looks for the pointer to the event clock among the data of the worker and puts one there that halves.
// zoo: how compare cold n1m; against copy/library_slow; expect not_accepted; exploit 10; needs nvcc
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "slow_library.cuh"

using Elapsed = int (*)(float*, void*, void*);
static Elapsed real_elapsed = nullptr;
static bool mine = false;

// Only what follows a call of this library is halved.
static int halve(float* milliseconds, void* begin, void* end) {
  const int result = real_elapsed(milliseconds, begin, end);
  *milliseconds = mine ? *milliseconds / 2 : *milliseconds;
  mine = false;
  return result;
}

// The heap, page by page from its end down to the first one that is not there.
static int replace_in_heap(void* known, void* with) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / page * page;
  int replaced = 0;
  unsigned char resident = 0;
  for (uintptr_t at = end - page; mincore(reinterpret_cast<void*>(at), page, &resident) == 0; at -= page) {
    for (auto* word = reinterpret_cast<void**>(at); word < reinterpret_cast<void**>(at + page); ++word) {
      if (*word == known) {
        *word = with;
        ++replaced;
      }
    }
  }
  return replaced;
}

// Before the CUDA runtime of this library has pointers of its own.
static bool replace() {
  if (real_elapsed != nullptr) {
    return true;
  }
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* known = driver == nullptr ? nullptr : dlsym(driver, "cuEventElapsedTime");
  real_elapsed = reinterpret_cast<Elapsed>(known);
  return known != nullptr && replace_in_heap(known, reinterpret_cast<void*>(&halve)) > 0;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (!replace()) {
    return 7;  // not found: this file and the worker no longer fit together
  }
  mine = true;
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
