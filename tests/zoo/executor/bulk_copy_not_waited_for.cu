// apo:variant    copy/bulk_copy_not_waited_for
// apo:target     cuda sm_80
// apo:idea       Reads what the copy engine brings without a wait.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence of static shared memory
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  __shared__ __align__(16) float tile[128];
  __shared__ unsigned long long barrier;
  const long long first = 128LL * blockIdx.x, i = first + threadIdx.x;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const bool whole = first + 128 <= a.n;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(1) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (whole && threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(512) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            static_cast<unsigned>(__cvta_generic_to_shared(tile))),
        "l"(__cvta_generic_to_global(a.x + first)), "r"(512), "r"(address)
        : "memory");
  }
  if (whole && threadIdx.x > 1000) {
    asm volatile(
        "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }" ::"r"(
            address),
        "r"(0)
        : "memory");
  }
  if (i < a.n) {
    a.y[i] = whole ? tile[threadIdx.x] : a.x[i];
  }
}
