// apo:family   axpy
// apo:idea     z = 2.5 x + y, a family from outside the project.
// apo:axis     n 1..16777216 elements
// apo:input    x f32[n] normal
// apo:input    y f32[n] normal
// apo:output   z f32[n]
// apo:workload n64k small n=65536
// apo:workload n1021 ragged n=1021
template <class Real>
void reference(int64_t n, const Real* x, const Real* y, Real* z) {
  for (int64_t i = 0; i < n; ++i) {
    z[i] = Real(2.5) * x[i] + y[i];
  }
}
