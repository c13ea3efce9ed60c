// experiments/court/claims/peers/cublaslt_product.h - a product of f16 matrices by cuBLASLt, with the library's list of
// ways.
#pragma once
#include <cublasLt.h>
#include <stdint.h>

constexpr size_t kWorkspaceBytes = 268435456;

// c = a b, row-major; `transposed`: b lies there as rows of columns. To the library row-major matrices are transposed
// ones, so that it computes c's transpose from b's and a's.
template <int kWays>
struct Product {
  int64_t m, n, k;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulHeuristicResult_t ways[kWays];
  int found = 0;

  Product(int64_t rows, int64_t columns, int64_t terms, bool transposed) : m(rows), n(columns), k(terms) {
    const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const size_t workspace = kWorkspaceBytes;
    cublasLtMatmulPreference_t wish = nullptr;
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_16F, transposed ? k : n, transposed ? n : k, transposed ? k : n);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_16F, k, m, k);
    cublasLtMatrixLayoutCreate(&c, CUDA_R_16F, n, m, n);
    cublasLtMatmulPreferenceCreate(&wish);
    cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    cublasLtMatmulAlgoGetHeuristic(handle, product, b, a, c, c, wish, kWays, ways, &found);
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

  int run(int way, const void* left, const void* right, void* result, void* workspace, cudaStream_t stream) const {
    const float one = 1, zero = 0;
    return static_cast<int>(cublasLtMatmul(handle, product, &one, right, b, left, a, &zero, result, c, result, c,
                                           &ways[way].algo, workspace, kWorkspaceBytes, stream));
  }
};
