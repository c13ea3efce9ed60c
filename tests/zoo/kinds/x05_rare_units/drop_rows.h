// apo:family    drop_rows
// apo:idea      y[r,c] = x[r,c] / keep with probability keep, else 0; the seed decides which
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:scalar    keep f32 0.75
// apo:input     x f32[rows,cols] normal
// apo:input     seed i64[1] uniform(0,1000000000)
// apo:output    y f32[rows,cols]
// apo:random    y by seed
// apo:unit      rows
// apo:workload  r1000_c2048 production rows=1000 cols=2048
// apo:workload  r17_c333 ragged     rows=17 cols=333
// apo:workload  r2_c8    small      rows=2 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, Real keep, const Real* x, const int64_t*, Real* y) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = drawn(keep, x[i] / keep, 0);
}
