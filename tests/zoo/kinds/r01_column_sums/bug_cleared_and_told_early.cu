// apo:variant  colsum/bug_cleared_and_told_early
// apo:target   cuda sm_80
// apo:idea     The flag that the column is cleared is raised before the other lanes have cleared theirs.
// apo:scratch  cleared 4*ceil_div(cols,32)
// apo:launch   lower grid=ceil_div(cols,128) block=128
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#define CLEARED
#include "told.cuh"
