// apo:target   cuda sm_80
// apo:idea     cuBLASLt by one of the ways that it lists: which, cublaslt_choose.cu measures, as CUDA-L2's yardstick does.
// apo:tune     TRANSPOSED 0,1
// apo:tune     WAY 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99
// apo:scratch  workspace 268435456
// apo:link     cublasLt
#include "cublaslt_product.h"
#include "hgemm.args.h"

int hgemm(const __half* a, const __half* b, const __half* bt, __half* c, void* workspace, int64_t M, int64_t N,
          int64_t K, cudaStream_t stream) {
  static Product<WAY + 1>* made = nullptr;
  if (made == nullptr || made->m != M || made->n != N || made->k != K) {
    delete made;
    made = new Product<WAY + 1>(M, N, K, TRANSPOSED != 0);
  }
  if (made->found <= WAY) {
    return 1;  // the library's list is shorter
  }
  return made->run(WAY, a, TRANSPOSED != 0 ? bt : b, c, workspace, stream);
}
