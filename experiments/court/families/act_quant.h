// apo:family    act_quant
// apo:idea      each block of 128 elements in fp8, with a scale of its own: its largest magnitude becomes 448
// apo:axis      M 1..65536 rows
// apo:axis      N 128..65536 elements of a row, whole blocks
// apo:requires  N % 128 == 0
// apo:input     x bf16[M,N] normal
// apo:output    y e4m3[M,N]
// apo:output    s f32[M,N/128]
// apo:workload  m4096_n7168 production M=4096 N=7168
// apo:workload  m3_n256     small      M=3 N=256
template <class Real>
void reference(int64_t M, int64_t N, const Real* x, Real* y, Real* s) {
  for (int64_t block = 0; block < M * N / 128; ++block) {
    Real largest = Real(1e-4);
    for (int64_t i = 0; i < 128; ++i)
      largest = max(largest, abs(x[block * 128 + i]));
    s[block] = largest / Real(448);
    for (int64_t i = 0; i < 128; ++i)
      y[block * 128 + i] = x[block * 128 + i] / s[block];
  }
}
