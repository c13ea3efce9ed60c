// cuda/gemm.h - the three GEMMs of a linear layer y = x w^T by cuBLAS: bf16 in, fp32 sums. All matrices are row-major.
#pragma once

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "model/views.h"

namespace byte_lm {

class Gemm {
 public:
  using bf16 = __nv_bfloat16;

  explicit Gemm(cudaStream_t stream);
  ~Gemm();
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;

  // y[rows, outputs] = x[rows, inputs] w[outputs, inputs]^T
  template <class Out>
  void forward(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const bf16* x, const bf16* w, View<Out> y);
  // dx[rows, inputs] = dy[rows, outputs] w, added to dx where `adds`
  template <class Out>
  void input_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const bf16> dy, const bf16* w,
                      Out* dx, bool adds);
  // dw[outputs, inputs] = dy^T x[rows, inputs]
  void weight_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const bf16> dy, const bf16* x,
                       float* dw);

 private:
  // A matrix as cuBLAS sees it: columns first, so a row-major one is its own transpose.
  struct Operand {
    const bf16* data;
    std::int64_t stride;
    cublasOperation_t operation;
  };
  template <class Out>
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Operand a, Operand b, Out* c, std::int64_t stride,
                bool adds);

  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;  // our own: recorded graphs and bit-wise repeatable results need it
};

}  // namespace byte_lm
