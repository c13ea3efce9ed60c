// experiments/court/claims/adapters/tensor.h - as much of PyTorch's C++ interface as the claims' host functions call.
//
// It takes the place of <torch/extension.h>, <ATen/...> and <c10/...>, so that a file of an extension is built in
// seconds and without PyTorch. Memory is that of the call: torch::give says which allocation is an output of the
// contract, all others are taken from one scratch buffer, which torch::begin names. What PyTorch launches is launched
// here too: a fill for zeros, a division. Checks are dropped, since the contract already says what they ask.
#pragma once
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace torch {

enum class ScalarType { Half, Float, Long };
constexpr ScalarType kHalf = ScalarType::Half, kFloat = ScalarType::Float, kLong = ScalarType::Long;
using Half = __half;

struct TensorOptions {
  ScalarType type = kFloat;
  ScalarType dtype() const { return type; }
};
inline std::ostream& operator<<(std::ostream& out, TensorOptions options) {
  return out << static_cast<int>(options.type);
}

struct Given {
  void* memory;
  int64_t bytes;
  int after;  // allocations of this size that come first
  bool is_taken = false;
};
struct Call {
  std::vector<Given> given;
  char* scratch = nullptr;
  int64_t used = 0;
  cudaStream_t stream = nullptr;
};
inline Call& call() {
  static Call now;
  return now;
}
inline void begin(void* scratch, cudaStream_t stream) {
  call().given.clear();
  call().scratch = static_cast<char*>(scratch);
  call().used = 0;
  call().stream = stream;
}
inline void give(void* memory, int64_t bytes, int after = 0) {
  call().given.push_back({memory, bytes, after});
}
inline void* allocate(int64_t bytes) {
  for (Given& one : call().given) {
    if (one.bytes == bytes && !one.is_taken) {
      one.is_taken = one.after-- == 0;
      if (one.is_taken) {
        return one.memory;
      }
      break;
    }
  }
  void* memory = call().scratch + call().used;
  call().used += (bytes + 255) / 256 * 256;
  return memory;
}

struct Tensor {
  void* memory = nullptr;
  std::vector<int64_t> extents;
  ScalarType type = kFloat;
  double value = 0;  // of what item() is asked for

  Tensor() = default;
  Tensor(const void* data, std::vector<int64_t> sizes, ScalarType kind)
      : memory(const_cast<void*>(data)), extents(sizes), type(kind) {}
  int64_t dim() const { return static_cast<int64_t>(extents.size()); }
  int64_t size(int64_t i) const { return extents[static_cast<size_t>(i < 0 ? i + dim() : i)]; }
  int64_t numel() const {
    int64_t all = 1;
    for (const int64_t extent : extents) {
      all *= extent;
    }
    return all;
  }
  int64_t bytes() const { return numel() * (type == kHalf ? 2 : type == kFloat ? 4 : 8); }
  void* data_ptr() const { return memory; }
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(memory);
  }
  template <class T>
  T item() const {
    return static_cast<T>(value);
  }
  Tensor contiguous() const { return *this; }
  TensorOptions options() const { return {type}; }
  ScalarType scalar_type() const { return type; }
};

inline Tensor empty(std::vector<int64_t> sizes, TensorOptions options) {
  Tensor made(nullptr, sizes, options.type);
  made.memory = allocate(made.bytes());
  return made;
}
inline Tensor zeros(std::vector<int64_t> sizes, TensorOptions options) {
  const Tensor made = empty(sizes, options);
  cudaMemsetAsync(made.memory, 0, static_cast<size_t>(made.bytes()), call().stream);
  return made;
}
inline Tensor empty_like(const Tensor& like) {
  return empty(like.extents, like.options());
}
inline Tensor zeros_like(const Tensor& like) {
  return zeros(like.extents, like.options());
}

static __global__ void divide(const float* x, float* y, int64_t n, float by) {
  const int64_t i = int64_t{256} * blockIdx.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] / by;
  }
}
inline Tensor operator/(const Tensor& x, float by) {
  const Tensor made = empty_like(x);
  divide<<<static_cast<unsigned>((x.numel() + 255) / 256), 256, 0, call().stream>>>(
      x.data_ptr<float>(), made.data_ptr<float>(), x.numel(), by);
  return made;
}

}  // namespace torch

namespace at {
using namespace torch;
namespace cuda {
inline cudaStream_t getCurrentCUDAStream() {
  return torch::call().stream;
}
}  // namespace cuda
}  // namespace at

namespace pybind11 {
struct item {
  torch::Tensor tensor;
  template <class T>
  T cast() const {
    return tensor;
  }
};
struct tuple {
  std::vector<item> items;
  size_t size() const { return items.size(); }
  const item& operator[](size_t i) const { return items[i]; }
};
}  // namespace pybind11

#define TORCH_CHECK(...)
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  {                                                 \
    using scalar_t = float;                         \
    (__VA_ARGS__)();                                \
  }
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF AT_DISPATCH_FLOATING_TYPES
#define PYBIND11_MODULE(name, module) \
  template <class Module>             \
  void not_called(Module& module)
