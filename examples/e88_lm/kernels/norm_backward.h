// apo:family    norm_backward
// apo:idea      the gradient of normed = r / rms(r) * weight in r, added to what arrived at r, and in weight
// apo:axis      rows 1..1048576
// apo:axis      dim 8..57344
// apo:input     d_normed f32[rows,dim] normal
// apo:input     residual f32[rows,dim] normal(0,3)
// apo:input     weight f32[dim] normal(1,0.5)
// apo:input     arrived f32[rows,dim] normal
// apo:derive    inverse_rms f32[rows]
// apo:output    d_residual f32[rows,dim]
// apo:output    d_x bf16[rows,dim]
// apo:output    d_weight f32[dim]
// apo:regimes   typical
// apo:unit      d_residual: rows
// apo:unit      d_x: rows
// apo:unit      d_weight: dim
// apo:requires  dim % 8 == 0
// apo:workload  b2_t512   production rows=1024 dim=1920
// apo:workload  r37_d200  ragged     rows=37 dim=200
// apo:workload  r5_d4104  ragged     rows=5 dim=4104
// apo:workload  r300_d8   small      rows=300 dim=8
template <class Real>
void derive(int64_t rows, int64_t dim, const Real*, const Real* residual, const Real*, const Real*, Real* inverse_rms) {
  for (int64_t row = 0; row < rows; ++row, residual += dim)
    inverse_rms[row] =
        rsqrt(sum<Real>(dim, [&](int64_t i) { return residual[i] * residual[i]; }) / Real(dim) + Real(1e-5));
}

template <class Real>
void reference(int64_t rows, int64_t dim, const Real* d_normed, const Real* residual, const Real* weight,
               const Real* arrived, const Real* inverse_rms, Real* d_residual, Real* d_x, Real* d_weight) {
  for (int64_t row = 0; row < rows; ++row) {
    const Real scale = inverse_rms[row];
    const Real *e = d_normed + row * dim, *r = residual + row * dim;
    const Real mean = sum<Real>(dim, [&](int64_t i) { return e[i] * r[i] * scale * weight[i]; }) / Real(dim);
    for (int64_t i = 0; i < dim; ++i)
      d_x[row * dim + i] = d_residual[row * dim + i] =
          arrived[row * dim + i] + scale * (e[i] * weight[i] - r[i] * scale * mean);
  }
  for (int64_t i = 0; i < dim; ++i)
    d_weight[i] = sum<Real>(
        rows, [&](int64_t row) { return d_normed[row * dim + i] * residual[row * dim + i] * inverse_rms[row]; });
}
