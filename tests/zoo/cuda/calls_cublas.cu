// apo:variant    copy/calls_cublas
// apo:target     cuda sm_80
// apo:idea       Leaves the copy to cuBLAS from its kernel: a device variant has device code and nothing to link.
// apo:launch     k grid=1 block=1
// zoo: expect build_failed; guard build; exploit 23; evidence cublasScopy_v2; gate build
#include "copy.args.h"

extern "C" int cublasScopy_v2(void* handle, int n, const float* x, int by_x, float* y, int by_y);

extern "C" __global__ void k(const copy_args a) {
  cublasScopy_v2(nullptr, static_cast<int>(a.n), a.x, 1, a.y, 1);
}
