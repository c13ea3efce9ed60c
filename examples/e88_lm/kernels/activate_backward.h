// apo:family    activate_backward
// apo:idea      the gradient of q, k, v = silu(qkv) in qkv, and that of the gate put beside it
// apo:axis      rows 1..1048576
// apo:axis      width 8..65536
// apo:input     qkv bf16[rows,3,width] normal(0,2)
// apo:input     dq bf16[rows,width] normal
// apo:input     dk bf16[rows,width] normal
// apo:input     dv bf16[rows,width] normal
// apo:input     d_gate bf16[rows,width] normal
// apo:output    d_projection bf16[rows,4,width]
// apo:regimes   typical wide
// apo:unit      rows
// apo:requires  width % 8 == 0
// apo:workload  b16_t512_h83  production rows=8192 width=2656
// apo:workload  r37_w160      ragged     rows=37 width=160
// apo:workload  r1_w8         small      rows=1 width=8
template <class Real>
void reference(int64_t rows, int64_t width, const Real* qkv, const Real* dq, const Real* dk, const Real* dv,
               const Real* d_gate, Real* d_projection) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t part = 0; part < 4; ++part)
      for (int64_t i = 0; i < width; ++i) {
        const int64_t at = row * width + i, to = (row * 4 + part) * width + i;
        d_projection[to] = d_gate[at];
        if (part < 3) {
          const Real x = qkv[(row * 3 + part) * width + i], s = Real(1) / (Real(1) + exp(-x));
          d_projection[to] = (part == 0 ? dq : part == 1 ? dk : dv)[at] * s * (Real(1) + x * (Real(1) - s));
        }
      }
}
