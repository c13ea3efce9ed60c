// apo:variant  colsum/right_cleared_and_told
// apo:target   cuda sm_80
// apo:idea     The first block of rows clears the column and raises a flag, which the others wait for.
// apo:scratch  cleared 4*ceil_div(cols,32)
// apo:launch   lower grid=ceil_div(cols,128) block=128
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#define CLEARED __syncthreads()
#include "told.cuh"
