#include <cstdint>
#include <vector>
void stencil(const float* u, float* v, int64_t ny, int64_t nx, int64_t sweeps) {
  std::vector<float> a(u, u + ny * nx), b(u, u + ny * nx);
  for (int64_t s = 0; s < sweeps; ++s) {
    for (int64_t i = 1; i + 1 < ny; ++i)
      for (int64_t j = 1; j + 1 < nx; ++j)
        b[i * nx + j] =
            0.2f * (a[i * nx + j] + a[i * nx + j - 1] + a[i * nx + j + 1] + a[(i - 1) * nx + j] + a[(i + 1) * nx + j]);
    a.swap(b);
  }
  for (int64_t i = 0; i < ny * nx; ++i)
    v[i] = a[i];
}
