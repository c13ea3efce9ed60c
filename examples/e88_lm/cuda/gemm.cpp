// cuda/gemm.cpp - maps row-major products to cuBLAS.
#include "cuda/gemm.h"

#include <type_traits>

#include "cuda/check_status.h"

namespace byte_lm {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

void check_blas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
  }
}

}  // namespace

Gemm::Gemm(cudaStream_t stream) {
  check_blas(cublasCreate(&handle_), "cublasCreate");
  check_blas(cublasSetStream(handle_, stream), "cublasSetStream");
  check(cudaMalloc(&workspace_, kWorkspaceBytes), "memory for cuBLAS");
  check_blas(cublasSetWorkspace(handle_, workspace_, kWorkspaceBytes), "cublasSetWorkspace");
}

Gemm::~Gemm() {
  cublasDestroy(handle_);  // the process ends after this: nothing to do about an error
  cudaFree(workspace_);
}

template <class Out>
void Gemm::multiply(std::int64_t m, std::int64_t n, std::int64_t k, Operand a, Operand b, Out* c, std::int64_t stride,
                    bool adds) {
  const float alpha = 1, beta = adds ? 1 : 0;
  constexpr cudaDataType_t kOut = std::is_same_v<Out, float> ? CUDA_R_32F : CUDA_R_16BF;
  check_blas(cublasGemmEx(handle_, a.operation, b.operation, static_cast<int>(m), static_cast<int>(n),
                          static_cast<int>(k), &alpha, a.data, CUDA_R_16BF, static_cast<int>(a.stride), b.data,
                          CUDA_R_16BF, static_cast<int>(b.stride), &beta, c, kOut, static_cast<int>(stride),
                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
             "cublasGemmEx");
}

template <class Out>
void Gemm::forward(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const bf16* x, const bf16* w,
                   View<Out> y) {
  multiply(outputs, rows, inputs, {w, inputs, CUBLAS_OP_T}, {x, inputs, CUBLAS_OP_N}, y.data, y.stride, false);
}

template <class Out>
void Gemm::input_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const bf16> dy,
                          const bf16* w, Out* dx, bool adds) {
  multiply(inputs, rows, outputs, {w, inputs, CUBLAS_OP_N}, {dy.data, dy.stride, CUBLAS_OP_N}, dx, inputs, adds);
}

void Gemm::weight_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const bf16> dy,
                           const bf16* x, float* dw) {
  multiply(inputs, outputs, rows, {x, inputs, CUBLAS_OP_N}, {dy.data, dy.stride, CUBLAS_OP_T}, dw, inputs, false);
}

template void Gemm::forward(std::int64_t, std::int64_t, std::int64_t, const bf16*, const bf16*, View<bf16>);
template void Gemm::forward(std::int64_t, std::int64_t, std::int64_t, const bf16*, const bf16*, View<float>);
template void Gemm::input_gradient(std::int64_t, std::int64_t, std::int64_t, View<const bf16>, const bf16*, bf16*,
                                   bool);
template void Gemm::input_gradient(std::int64_t, std::int64_t, std::int64_t, View<const bf16>, const bf16*, float*,
                                   bool);

}  // namespace byte_lm
