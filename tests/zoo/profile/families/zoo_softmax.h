// apo:family    zoo_softmax
// apo:idea      y[row, i] = exp(x[row, i]) / sum over the row
// apo:axis      rows 1..2147483648
// apo:input     x f32[rows,1024] uniform(-1,1)
// apo:output    y f32[rows,1024]
// apo:regimes   typical
// apo:workload  r32k production cuda rows=32768
// apo:workload  r64  small      cuda rows=64
template <class Real>
void reference(int64_t rows, const Real* x, Real* y) {
  for (int64_t row = 0; row < rows; ++row, x += 1024, y += 1024) {
    for (int64_t i = 0; i < 1024; ++i)
      y[i] = exp(x[i]);
    const Real all = sum<Real>(1024, [&](int64_t i) { return y[i]; });
    for (int64_t i = 0; i < 1024; ++i)
      y[i] /= all;
  }
}
