// apo:family    vector_add
// apo:idea      output = x + y, of f32
// apo:axis      rows 1..16384
// apo:axis      cols 1..16384
// apo:input     x f32[rows,cols] normal
// apo:input     y f32[rows,cols] normal
// apo:output    output f32[rows,cols]
// apo:workload  r129_c129 ragged rows=129 cols=129
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, const Real* y, Real* output) {
  for (int64_t i = 0; i < rows * cols; ++i)
    output[i] = x[i] + y[i];
}
