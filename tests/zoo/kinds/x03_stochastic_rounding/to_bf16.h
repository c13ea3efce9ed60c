// apo:family    to_bf16
// apo:idea      x to bf16 by stochastic rounding: up with a probability in proportion to what lies above the lower neighbour
// apo:axis      n 1..16777216
// apo:input     x f32[n] normal
// apo:input     seed i64[1] uniform(0,1000000000)
// apo:output    y bf16[n]
// apo:random    y by seed
// apo:unit      n/4096
// apo:workload  n16k  production n=16384
// apo:workload  n5001 ragged     n=5001
// apo:workload  n64   small      n=64
template <class Real>
void reference(int64_t n, const Real* x, const int64_t*, Real* y) {
  for (int64_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i]);
    const int exponent = value == 0 ? -126 : std::max(std::ilogb(value), -126);
    const double spacing = std::ldexp(1.0, exponent - 7);
    const double lower = std::floor(value / spacing) * spacing;
    y[i] = drawn((value - lower) / spacing, Real(lower + spacing), Real(lower));
  }
}
