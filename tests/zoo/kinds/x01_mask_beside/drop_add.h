// apo:family    drop_add
// apo:idea      y = residual + x * mask / keep, where mask is 1 with probability keep, else 0
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:scalar    keep f32 0.9
// apo:input     x bf16[rows,cols] normal
// apo:input     residual f32[rows,cols] normal
// apo:input     seed i64[2] uniform(0,1000000000)
// apo:output    y f32[rows,cols]
// apo:output    mask u8[rows,cols]
// apo:random    y mask by seed
// apo:unit      rows
// apo:workload  r64_c256 production rows=64 cols=256
// apo:workload  r17_c333 ragged     rows=17 cols=333
// apo:workload  r2_c8    small      rows=2 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, Real keep, const Real* x, const Real* residual, const int64_t*, Real* y,
               int64_t* mask) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    mask[i] = drawn(keep, 1, 0);
    y[i] = residual[i] + Real(mask[i]) * x[i] / keep;
  }
}
