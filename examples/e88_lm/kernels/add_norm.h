// apo:family    add_norm
// apo:idea      after = before + x, normed = after / rms(after) * weight: a layer's result enters the residual stream
// apo:axis      rows 1..1048576
// apo:axis      dim 8..65536
// apo:input     x bf16[rows,dim] normal
// apo:input     before f32[rows,dim] normal(0,3)
// apo:input     weight f32[dim] normal(1,0.5)
// apo:output    after f32[rows,dim]
// apo:output    normed bf16[rows,dim]
// apo:output    inverse_rms f32[rows]
// apo:regimes   typical wide
// apo:unit      rows
// apo:requires  dim % 8 == 0
// apo:workload  b16_t512  production rows=8192 dim=1920
// apo:workload  r37_d200  ragged     rows=37 dim=200
// apo:workload  r5_d4104  ragged     rows=5 dim=4104
// apo:workload  r1_d8     small      rows=1 dim=8
template <class Real>
void reference(int64_t rows, int64_t dim, const Real* x, const Real* before, const Real* weight, Real* after,
               Real* normed, Real* inverse_rms) {
  for (int64_t row = 0; row < rows; ++row, x += dim, before += dim, after += dim, normed += dim) {
    for (int64_t i = 0; i < dim; ++i)
      after[i] = before[i] + x[i];
    const Real squares = sum<Real>(dim, [&](int64_t i) { return after[i] * after[i]; });
    inverse_rms[row] = rsqrt(squares / Real(dim) + Real(1e-5));
    for (int64_t i = 0; i < dim; ++i)
      normed[i] = after[i] * inverse_rms[row] * weight[i];
  }
}
