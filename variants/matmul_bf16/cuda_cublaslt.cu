// apo:variant    matmul_bf16/cuda_cublaslt
// apo:target     cuda sm_80
// apo:technique  library-call
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       cuBLASLt by its own choice, or by a later one of the list that it gives: the yardstick.
// apo:predict    5x..50x over parent: the library has a kernel for each shape.
// apo:tune       ALGORITHM 0,1,2,3,4,5,6,7
// apo:scratch    workspace 33554432
// apo:link       cublasLt
#include <cublasLt.h>

#include "matmul_bf16.args.h"

namespace {

// Row-major matrices are transposed ones to the library, so that c's transpose is b times a's. Made once for a size.
struct Product {
  int64_t m, n, k;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulHeuristicResult_t choices[ALGORITHM + 1];
  int found = 0;

  Product(int64_t rows, int64_t columns, int64_t terms, size_t workspace) : m(rows), n(columns), k(terms) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const uint32_t alignment = 64;
    cublasLtMatmulPreference_t wish = nullptr;
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_16BF, k, n, k);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_16BF, k, m, k);
    cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, n, m, n);
    cublasLtMatmulPreferenceCreate(&wish);
    cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    for (const auto operand :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      cublasLtMatmulPreferenceSetAttribute(wish, operand, &alignment, sizeof alignment);
    }
    cublasLtMatmulAlgoGetHeuristic(handle, product, b, a, c, c, wish, ALGORITHM + 1, choices, &found);
    cublasLtMatmulPreferenceDestroy(wish);
  }
  ~Product() {
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(c);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
};

}  // namespace

int matmul_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, void* workspace, int64_t M, int64_t N,
                int64_t K, cudaStream_t stream) {
  constexpr size_t kWorkspaceBytes = 33554432;
  static Product* made = nullptr;
  if (made == nullptr || made->m != M || made->n != N || made->k != K) {
    delete made;
    made = new Product(M, N, K, kWorkspaceBytes);
  }
  if (made->found <= ALGORITHM) {
    return 1;  // the library's list is shorter
  }
  const float one = 1, zero = 0;
  return static_cast<int>(cublasLtMatmul(made->handle, made->product, &one, b, made->b, a, made->a, &zero, c, made->c,
                                         c, made->c, &made->choices[ALGORITHM].algo, workspace, kWorkspaceBytes,
                                         stream));
}
