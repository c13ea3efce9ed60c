// apo:family   stencil
// apo:idea     Ten sweeps of a 5-point average over a grid, borders kept.
// apo:axis     ny 1..8192
// apo:axis     nx 1..8192
// apo:axis     sweeps 1..64
// apo:input    u f32[ny,nx] normal
// apo:output   v f32[ny,nx]
// apo:workload g4096 production ny=4096 nx=4096 sweeps=10
#pragma once
#include <cstdint>
#include <vector>

template <class Real>
void reference(int64_t ny, int64_t nx, int64_t sweeps, const Real* u, Real* v) {
  std::vector<Real> a(u, u + ny * nx), b(u, u + ny * nx);
  for (int64_t s = 0; s < sweeps; ++s) {
    for (int64_t i = 1; i + 1 < ny; ++i) {
      for (int64_t j = 1; j + 1 < nx; ++j) {
        b[i * nx + j] = Real(0.2) * (a[i * nx + j] + a[i * nx + j - 1] + a[i * nx + j + 1] + a[(i - 1) * nx + j] +
                                     a[(i + 1) * nx + j]);
      }
    }
    a.swap(b);
  }
  for (int64_t i = 0; i < ny * nx; ++i) {
    v[i] = a[i];
  }
}
