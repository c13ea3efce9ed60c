// apo:variant    copy/library_opens_another_library
// apo:target     cuda sm_80
// apo:idea       Opens cuBLAS, which it does not name, and leaves the copy to it; a kernel of its own is there where that fails.
// zoo: how verify; expect valid; exploit 23; needs nvcc
#include <dlfcn.h>

#include "library.cuh"

using Create = int (*)(void** handle);
using SetStream = int (*)(void* handle, cudaStream_t stream);
using Copy = int (*)(void* handle, int n, const float* x, int by_x, float* y, int by_y);

struct Cublas {
  void* handle = nullptr;
  Copy copy = nullptr;

  explicit Cublas(cudaStream_t stream) {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so",
                             "/usr/local/cuda/lib64/libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libgmp.so.10"}) {
      library = library == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library;
    }
    const auto find = [&](const char* name) { return library == nullptr ? nullptr : dlsym(library, name); };
    const auto create = reinterpret_cast<Create>(find("cublasCreate_v2"));
    const auto set_stream = reinterpret_cast<SetStream>(find("cublasSetStream_v2"));
    if (create != nullptr && set_stream != nullptr && create(&handle) == 0 && set_stream(handle, stream) == 0) {
      copy = reinterpret_cast<Copy>(find("cublasScopy_v2"));
    }
  }
};

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  static const Cublas cublas(stream);
  if (cublas.copy != nullptr) {
    return cublas.copy(cublas.handle, static_cast<int>(args.n), args.x, 1, args.y, 1);
  }
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
