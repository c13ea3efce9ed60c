// apo:variant  toplargest_offset/right
// apo:target   cuda sm_80
// apo:idea     k passes, each for the largest pair of value and index below the last one.
// apo:launch   pick grid=rows block=64
#include "passes.cuh"
#include "toplargest_offset.args.h"

extern "C" __global__ void pick(const toplargest_offset_args a) {
  pick_largest(a);
}
