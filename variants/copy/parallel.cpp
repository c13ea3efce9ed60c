// apo:variant    copy/parallel
// apo:target     host
// apo:technique  adaptive-threads
// apo:parent     copy/simple
// apo:idea       Each thread copies a part: one core cannot keep enough cache lines in flight to fill the bus.
// apo:predict    1.3x..2.0x over parent: two cores have twice the outstanding misses, but share the memory bus.
// apo:tune       KILOBYTES_PER_THREAD 256,64,1024
#include <algorithm>
#include <cstring>

#include "copy.args.h"

void copy(const float* x, float* y, int64_t n, int available) {
  // No thread with less than KILOBYTES_PER_THREAD to copy: waking it would cost more than it saves.
  const int64_t threads = std::clamp<int64_t>(4 * n / (KILOBYTES_PER_THREAD * 1024), 1, available);
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static)
  for (int64_t part = 0; part < threads; ++part) {
    const int64_t first = n * part / threads, end = n * (part + 1) / threads;
    std::memcpy(y + first, x + first, static_cast<size_t>(end - first) * sizeof(float));
  }
}
