// apo:variant  toplargest_offset/bug
// apo:target   cuda sm_80
// apo:idea     A histogram of the upper eight bits finds the bin of the k-th; its members go to a stash of 256, and k passes run over those.
// apo:launch   pick grid=rows block=64
#include "stash.cuh"
#include "toplargest_offset.args.h"

extern "C" __global__ void pick(const toplargest_offset_args a) {
  pick_largest(a);
}
