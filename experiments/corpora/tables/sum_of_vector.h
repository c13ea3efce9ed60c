// apo:family    sum_of_vector
// apo:idea      the sum of all elements
// apo:axis      n 1..67108864
// apo:input     x f32[n] normal(20,3)
// apo:output    y f32[1]
// apo:workload  n1638400 small n=1638400
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  y[0] = sum<Real>(n, [&](int64_t i) { return x[i]; });
}
