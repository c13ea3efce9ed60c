// apo:variant    copy/honest_launches_from_a_thread
// apo:target     cuda sm_80
// apo:idea       Honest: another thread launches, and the call waits for that thread.
// zoo: expect valid
#include <thread>

__global__ void elements(const float* x, float* y, int64_t n) {
  const int64_t i = 256LL * blockIdx.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i];
  }
}

void copy(const float* x, float* y, int64_t n) {
  std::thread([=] { elements<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, n); }).join();
}
