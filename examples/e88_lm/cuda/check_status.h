// cuda/check_status.h - turns what CUDA and cuBLAS return into exceptions.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace byte_lm {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

inline void check(CUresult status, const std::string& what) {
  if (status != CUDA_SUCCESS) {
    const char* text = nullptr;
    cuGetErrorString(status, &text);
    throw std::runtime_error(what + ": " + (text == nullptr ? "unknown error" : text));
  }
}

}  // namespace byte_lm
