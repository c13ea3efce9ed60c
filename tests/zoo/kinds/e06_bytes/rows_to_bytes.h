// apo:family    rows_to_bytes
// apo:idea      y[r,c] = the whole part of 255 x[r,c]
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] uniform(0,1)
// apo:output    y u8[rows,cols]
// apo:unit      rows
// apo:regimes   typical near_zero constant_rows zero_rows equal
// apo:workload  r2000_c100 production rows=2000 cols=100
// apo:workload  r70_c33    ragged     rows=70 cols=33
// apo:workload  r2_c4      small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, int64_t* y) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    y[i] = 0;
    for (int64_t bit = 128; bit > 0; bit /= 2)
      if (!decided(Real(255) * x[i], Real(y[i] + bit)))
        y[i] += bit;
  }
}
