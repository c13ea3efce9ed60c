// apo:family    expert_swiglu
// apo:idea      y = silu(x W_gate) (x W_up) by the expert that has the row
// apo:axis      rows 1..262144
// apo:axis      H 128..4096
// apo:axis      I 256..4096
// apo:axis      E 1..128 experts
// apo:requires  rows % 2 == 0 && H % 128 == 0 && I % 256 == 0
// apo:input     hidden_states bf16[rows,H] normal(0,0.1)
// apo:input     expert_offsets i32[E+1] fill
// apo:input     W_gate bf16[E,H,I] normal(0,0.2)
// apo:input     W_up bf16[E,H,I] normal(0,0.2)
// apo:output    y bf16[rows,I]
// apo:regimes   typical near_zero repeated zero_rows
// apo:tolerance rtol=2e-2 atol=2e-4 because both products may be rounded to bf16: 2e-4 is a hundredth of a typical output
// apo:workload  r120_h128_i256_e4 small rows=120 H=128 I=256 E=4
inline void fill_expert_offsets(int64_t rows, int64_t, int64_t, int64_t E, Random& random, int64_t* offsets) {
  for (int64_t e = 0; e <= E; ++e)
    offsets[e] = e == 0 ? 0 : e == E ? rows : e * rows / E - random.below(rows / E / 2 + 1);
}
template <class Real>
void reference(int64_t, int64_t H, int64_t I, int64_t E, const Real* hidden_states, const int64_t* expert_offsets,
               const Real* W_gate, const Real* W_up, Real* y) {
  for (int64_t e = 0; e < E; ++e)
    for (int64_t row = expert_offsets[e]; row < expert_offsets[e + 1]; ++row)
      for (int64_t i = 0; i < I; ++i) {
        const Real* x = hidden_states + row * H;
        const Real gate = sum<Real>(H, [&](int64_t h) { return x[h] * W_gate[(e * H + h) * I + i]; });
        const Real up = sum<Real>(H, [&](int64_t h) { return x[h] * W_up[(e * H + h) * I + i]; });
        y[row * I + i] = gate / (Real(1) + exp(-gate)) * up;
      }
}
