// apo:variant    zoo_copy/many_launches
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Copies in 32 launches, each over as soon as it began.
// apo:launch     slice_0 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_1 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_2 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_3 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_4 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_5 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_6 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_7 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_8 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_9 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_10 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_11 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_12 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_13 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_14 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_15 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_16 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_17 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_18 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_19 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_20 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_21 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_22 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_23 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_24 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_25 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_26 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_27 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_28 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_29 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_30 grid=ceil_div(n,32*128) block=128
// apo:launch     slice_31 grid=ceil_div(n,32*128) block=128
// zoo: expect launch-overhead
// zoo: workload n1m
#include "zoo_copy.args.h"

// One kernel a slice: what a launch is given is the same for all.
#define SLICE(number)                                                         \
  extern "C" __global__ void slice_##number(const zoo_copy_args a) {          \
    const long long i = a.n / 32 * number + 128LL * blockIdx.x + threadIdx.x; \
    if (i < a.n / 32 * (number + 1)) {                                        \
      a.y[i] = a.x[i];                                                        \
    }                                                                         \
  }

SLICE(0)
SLICE(1)
SLICE(2)
SLICE(3)
SLICE(4)
SLICE(5)
SLICE(6)
SLICE(7)
SLICE(8)
SLICE(9)
SLICE(10)
SLICE(11)
SLICE(12)
SLICE(13)
SLICE(14)
SLICE(15)
SLICE(16)
SLICE(17)
SLICE(18)
SLICE(19)
SLICE(20)
SLICE(21)
SLICE(22)
SLICE(23)
SLICE(24)
SLICE(25)
SLICE(26)
SLICE(27)
SLICE(28)
SLICE(29)
SLICE(30)
SLICE(31)
