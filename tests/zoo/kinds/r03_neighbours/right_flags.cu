// apo:variant  smooth/right_flags
// apo:target   cuda sm_80
// apo:idea     A block waits for the flag of the block before it, whose last element it then reads.
// apo:scratch  kept 4*n
// apo:scratch  flags 4*ceil_div(n,64)
// apo:launch   clear grid=ceil_div(n,64) block=32
// apo:launch   smooth grid=ceil_div(n,64) block=64
#define DISTANCE 1
#define AFTERWARDS
#include "flags.cuh"
