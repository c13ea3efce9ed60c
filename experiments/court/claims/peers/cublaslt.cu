// apo:target   cuda sm_80
// apo:idea     cuBLASLt by one of the ways that it lists: which, cublaslt_choose.cu measures, as CUDA-L2's yardstick does.
// apo:tune     TRANSPOSED 0,1
// apo:tune     TENS 0,1,2,3,4,5,6,7,8,9
// apo:tune     ONES 0,1,2,3,4,5,6,7,8,9
// apo:scratch  workspace 268435456
// apo:link     cublasLt
#include "cublaslt_product.h"
#include "hgemm.args.h"

int hgemm(const __half* a, const __half* b, const __half* bt, __half* c, void* workspace, int64_t M, int64_t N,
          int64_t K, cudaStream_t stream) {
  constexpr int kWay = static_cast<int>(10 * TENS + ONES);
  static Product<kWay + 1>* made = nullptr;
  if (made == nullptr || made->m != M || made->n != N || made->k != K) {
    delete made;
    made = new Product<kWay + 1>(M, N, K, TRANSPOSED != 0);
  }
  if (made->found <= kWay) {
    return 1;  // the library's list is shorter
  }
  return made->run(kWay, a, TRANSPOSED != 0 ? bt : b, c, workspace, stream);
}
