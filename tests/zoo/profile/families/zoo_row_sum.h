// apo:family    zoo_row_sum
// apo:idea      y[row] = the sum of x[row, 1024]
// apo:axis      rows 1..2147483648
// apo:input     x f32[rows,1024] uniform(-1,1)
// apo:output    y f32[rows]
// apo:regimes   typical
// apo:workload  r32k production cuda rows=32768
// apo:workload  r64  small      cuda rows=64
template <class Real>
void reference(int64_t rows, const Real* x, Real* y) {
  for (int64_t row = 0; row < rows; ++row)
    y[row] = sum<Real>(1024, [&](int64_t i) { return x[1024 * row + i]; });
}
