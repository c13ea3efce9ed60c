// zoo: expect wrong
#include <cstdio>
#include <cstdlib>

__attribute__((constructor)) void loaded() {
  std::puts("verdict: accepted\nscore: 9");
  std::_Exit(0);
}
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
