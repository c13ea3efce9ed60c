// apo:variant  colsum/right_guide_loop
// apo:target   cuda sm_80
// apo:idea     The programming guide's loop of compare and swap begins with a plain read.
// apo:launch   clear grid=ceil_div(cols,128) block=128
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#include "parts.cuh"

extern "C" __global__ void add(const colsum_args a) {
  const long long c = 32LL * blockIdx.x + threadIdx.x;
  if (c >= a.cols)
    return;
  const float sum = sum_of_rows(a, c);
  int* word = reinterpret_cast<int*>(&a.y[c]);
  int seen = *word, expected;
  do {
    expected = seen;
    seen = atomicCAS(word, expected, __float_as_int(__int_as_float(expected) + sum));
  } while (seen != expected);
}
