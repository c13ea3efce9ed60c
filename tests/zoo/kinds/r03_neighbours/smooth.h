// apo:family    smooth
// apo:idea      y[i] = (x[i-1] + x[i] + x[i+1]) / 3, with x[-1] = x[0] and x[n] = x[n-1]
// apo:axis      n 2..1000000
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n5k   production n=5000
// apo:workload  n777  ragged     n=777
// apo:workload  n130  small      n=130
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = (x[i == 0 ? 0 : i - 1] + x[i] + x[i == n - 1 ? i : i + 1]) / 3;
}
