// experiments/process_start.cpp - what a process pays before its first launch on a GPU, in milliseconds: cuInit and a
// context. two_gpus.py compiles it: g++ -O2 process_start.cpp -ldl, with the CUDA headers.
#include <cuda.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) {
    std::fprintf(stderr, "process_start: there is no libcuda.so.1\n");
    return 1;
  }
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  const auto retain = reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  const double begin = now_ms();
  const int initialised = init(0);
  const double between = now_ms();
  CUcontext context = nullptr;
  const int made = retain(&context, 0);
  std::printf("%.1f %.1f\n", between - begin, now_ms() - between);
  return initialised == 0 && made == 0 ? 0 : 1;
}
