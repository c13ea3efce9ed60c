// apo:family    activate
// apo:idea      q, k, v = silu of the three parts of the rows of one projection
// apo:axis      rows 1..1048576
// apo:axis      width 8..65536
// apo:input     qkv bf16[rows,3,width] normal(0,2)
// apo:output    q bf16[rows,width]
// apo:output    k bf16[rows,width]
// apo:output    v bf16[rows,width]
// apo:regimes   typical wide
// apo:unit      rows
// apo:requires  width % 8 == 0
// apo:workload  b16_t512_h83  production rows=8192 width=2656
// apo:workload  r37_w160      ragged     rows=37 width=160
// apo:workload  r1_w8         small      rows=1 width=8
template <class Real>
void reference(int64_t rows, int64_t width, const Real* qkv, Real* q, Real* k, Real* v) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t part = 0; part < 3; ++part)
      for (int64_t i = 0; i < width; ++i) {
        const Real x = qkv[(row * 3 + part) * width + i];
        (part == 0 ? q : part == 1 ? k : v)[row * width + i] = x / (Real(1) + exp(-x));
      }
}
