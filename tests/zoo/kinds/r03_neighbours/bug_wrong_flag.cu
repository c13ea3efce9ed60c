// apo:variant  smooth/bug_wrong_flag
// apo:target   cuda sm_80
// apo:idea     A block waits for the flag of the block two before it.
// apo:scratch  kept 4*n
// apo:scratch  flags 4*ceil_div(n,64)
// apo:launch   clear grid=ceil_div(n,64) block=32
// apo:launch   smooth grid=ceil_div(n,64) block=64
#define DISTANCE 2
#define AFTERWARDS
#include "flags.cuh"
