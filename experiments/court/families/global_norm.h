// apo:family    global_norm
// apo:idea      out = the sum of squares of all values, for the clipping of gradients
// apo:axis      count 1..1073741824
// apo:input     values f32[count] normal
// apo:output    out f32[1]
// apo:workload  n16m production count=16777216
template <class Real>
void reference(int64_t count, const Real* values, Real* out) {
  out[0] = sum<Real>(count, [&](int64_t i) { return values[i] * values[i]; });
}
