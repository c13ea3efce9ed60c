// kernels/tvm_ffi.h - calls functions of the TVM-FFI C ABI; for the generated calls of variants with an apo:ffi line.
//
// Layouts and codes are those of apache/tvm-ffi, include/tvm/ffi/c_api.h, and of DLPack 1, which are frozen.
#ifndef APO_KERNELS_TVM_FFI_H
#define APO_KERNELS_TVM_FFI_H

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

// Of libtvm_ffi.so, which a function's object loads when it needs it; else null.
extern "C" {
__attribute__((weak)) void TVMFFIErrorMoveFromRaised(void** error);
__attribute__((weak)) int TVMFFIObjectDecRef(void* object);
__attribute__((weak)) int TVMFFIEnvSetStream(int32_t device_type, int32_t device, void* stream, void** before);
}

namespace apo_ffi {

// TVMFFIAny
struct Any {
  int32_t type;
  uint32_t zero;
  union {
    int64_t integer;
    double number;
    void* pointer;
  };
};
static_assert(sizeof(Any) == 16);

using Function = int(void* handle, const Any* arguments, int32_t count, Any* result);

constexpr int32_t kInteger = 1;
constexpr int32_t kBoolean = 2;
constexpr int32_t kNumber = 3;
constexpr int32_t kTensor = 7;
constexpr int32_t kFirstObject = 64;
constexpr int32_t kHost = 1;  // device types
constexpr int32_t kCuda = 2;

struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

// DLTensor
struct Tensor {
  void* data;
  int32_t device_type;
  int32_t device;
  int32_t dimensions;
  ElementType element;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
static_assert(sizeof(Tensor) == 48);

// A dense tensor, with the place of its sizes.
template <int dimensions>
struct DenseTensor {
  int64_t shape[dimensions];
  int64_t strides[dimensions] = {};
  Tensor tensor = {};

  Any argument(void* data, int32_t device_type, int32_t device, ElementType element) {
    int64_t stride = 1;
    for (int i = dimensions - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= shape[i];
    }
    tensor = {data, device_type, device, dimensions, element, shape, strides, 0};
    return {kTensor, 0, {.pointer = &tensor}};
  }
};

// "ValueError: x must have 4 elements" of the error that a function left behind.
inline std::string raised_error(int code) {
  struct Text {
    const char* data;
    std::size_t size;
  };
  struct Error {  // TVMFFIObject, and the begin of TVMFFIErrorCell
    uint64_t references;
    int32_t type;
    uint32_t padding;
    void* deleter;
    Text kind;
    Text message;
  };
  void* raised = nullptr;
  if (TVMFFIErrorMoveFromRaised != nullptr) {
    TVMFFIErrorMoveFromRaised(&raised);
  }
  if (raised == nullptr) {
    return "the function returned " + std::to_string(code);
  }
  const auto* error = static_cast<const Error*>(raised);
  const std::string text =
      std::string(error->kind.data, error->kind.size) + ": " + std::string(error->message.data, error->message.size);
  TVMFFIObjectDecRef(raised);
  return text;
}

inline void call(Function* function, const Any* arguments, int32_t count) {
  Any result = {};
  if (const int code = function(nullptr, arguments, count, &result); code != 0) {
    throw std::runtime_error(raised_error(code));
  }
  if (result.type >= kFirstObject && TVMFFIObjectDecRef != nullptr) {
    TVMFFIObjectDecRef(result.pointer);
  }
}

// The number of the GPU whose context is current; the process has loaded the driver.
inline int32_t current_gpu() {
  using Query = int(int32_t*);
  static Query* const query = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver == nullptr ? nullptr : reinterpret_cast<Query*>(dlsym(driver, "cuCtxGetDevice"));
  }();
  int32_t device = 0;
  if (query == nullptr || query(&device) != 0) {
    throw std::runtime_error("no GPU is current");
  }
  return device;
}

// Functions work on the stream that TVMFFIEnvGetStream() gives them.
inline void set_stream(int32_t device, void* stream) {
  void* before = nullptr;
  if (TVMFFIEnvSetStream != nullptr) {
    if (const int code = TVMFFIEnvSetStream(kCuda, device, stream, &before); code != 0) {
      throw std::runtime_error(raised_error(code));
    }
  }
}

}  // namespace apo_ffi

#endif
