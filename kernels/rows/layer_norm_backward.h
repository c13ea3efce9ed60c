// apo:family    layer_norm_backward
// apo:idea      dx, dweight and dbias of y = (x - mean) * rstd * weight + bias, from dy and what the forward pass kept
// apo:axis      rows 1..1048576 independent rows
// apo:axis      cols 1..65536 elements of a row
// apo:scalar    eps f32 1e-5
// apo:input     dy bf16[rows,cols] normal
// apo:input     x bf16[rows,cols] normal
// apo:input     weight bf16[cols] normal(1,0.25)
// apo:derive    mean f32[rows]
// apo:derive    rstd f32[rows]
// apo:output    dx bf16[rows,cols]
// apo:output    dweight bf16[cols]
// apo:output    dbias bf16[cols]
// apo:unit      dx: rows
// apo:unit      dweight: cols
// apo:unit      dbias: cols
// apo:workload  r4096_c2048  production rows=4096 cols=2048
// apo:workload  r16384_c4096 production rows=16384 cols=4096
// apo:workload  r7_c1000     ragged     rows=7 cols=1000
// apo:workload  r3_c5        small      rows=3 cols=5
template <class Real>
void derive(int64_t rows, int64_t cols, Real eps, const Real*, const Real* x, const Real*, Real* mean_of,
            Real* rstd_of) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    mean_of[r] = mean<Real>(cols, [&](int64_t c) { return x[c]; });
    const Real variance = mean<Real>(cols, [&](int64_t c) { return (x[c] - mean_of[r]) * (x[c] - mean_of[r]); });
    rstd_of[r] = rsqrt(variance + eps);
  }
}

template <class Real>
void reference(int64_t rows, int64_t cols, Real, const Real* dy, const Real* x, const Real* weight, const Real* mean_of,
               const Real* rstd_of, Real* dx, Real* dweight, Real* dbias) {
  const auto normalised = [&](int64_t r, int64_t c) { return (x[r * cols + c] - mean_of[r]) * rstd_of[r]; };
  for (int64_t r = 0; r < rows; ++r) {
    const auto scaled = [&](int64_t c) { return dy[r * cols + c] * weight[c]; };
    const Real level = mean<Real>(cols, scaled);
    const Real slope = mean<Real>(cols, [&](int64_t c) { return scaled(c) * normalised(r, c); });
    for (int64_t c = 0; c < cols; ++c)
      dx[r * cols + c] = rstd_of[r] * (scaled(c) - level - normalised(r, c) * slope);
  }
  for (int64_t c = 0; c < cols; ++c) {
    dweight[c] = sum<Real>(rows, [&](int64_t r) { return dy[r * cols + c] * normalised(r, c); });
    dbias[c] = sum<Real>(rows, [&](int64_t r) { return dy[r * cols + c]; });
  }
}
