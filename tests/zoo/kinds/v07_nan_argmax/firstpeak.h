// apo:family    firstpeak
// apo:idea      at[r] = where the largest of x[r,:] is; the first NaN is larger than all
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    at i32[rows]
// apo:output    p f32[rows]
// apo:unit      rows
// apo:values    nan inf
// apo:workload  r64_c2048 production rows=64 cols=2048
// apo:workload  r9_c301   ragged     rows=9 cols=301
// apo:workload  r4_c8     small      rows=4 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, int64_t* at, Real* p) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    at[r] = 0;
    for (int64_t c = 1; c < cols && !isnan(x[at[r]]); ++c)
      if (isnan(x[c]) || x[at[r]] < x[c])
        at[r] = c;
    p[r] = x[at[r]];
  }
}
