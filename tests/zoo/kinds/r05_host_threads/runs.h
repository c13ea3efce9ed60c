// apo:family    runs
// apo:idea      y[s] = sum of the run s of a row's elements: run s has the elements i with i * runs / n == s
// apo:axis      n 1..4000000
// apo:axis      runs 1..4000000
// apo:requires  runs <= n
// apo:input     x f32[n] normal
// apo:output    y f32[runs]
// apo:workload  n40k_r37 production n=40000 runs=37
// apo:workload  n1001_r7 ragged     n=1001 runs=7
// apo:workload  n64_r3   small      n=64 runs=3
template <class Real>
void reference(int64_t n, int64_t runs, const Real* x, Real* y) {
  for (int64_t s = 0; s < runs; ++s)
    y[s] = 0;
  for (int64_t i = 0; i < n; ++i)
    y[i * runs / n] += x[i];
}
