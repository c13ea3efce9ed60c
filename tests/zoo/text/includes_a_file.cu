// zoo: expect wrong
// zoo: says cannot name a header of a variant
// apo:launch k grid=1 block=32
#include </etc/passwd>
#include "copy.args.h"
extern "C" __global__ void k(const copy_args a) {
  a.y[0] = 0;
}
