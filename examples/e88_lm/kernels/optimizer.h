// apo:family    adamw
// apo:idea      clips the gradients to a norm of 1 and takes a step of AdamW; elements before `matrices` decay
// apo:axis      count 8..1073741824
// apo:axis      matrices 0..1073741824
// apo:scalar    rate f32 0.015625
// apo:scalar    correction1 f32 0.5
// apo:scalar    correction2 f32 0.0625
// apo:input     masters f32[count] normal
// apo:input     gradients f32[count] normal
// apo:input     first f32[count] normal(0,0.1)
// apo:input     second f32[count] uniform(0.01,0.5)
// apo:output    new_masters f32[count]
// apo:output    new_first f32[count]
// apo:output    new_second f32[count]
// apo:output    weights bf16[count]
// apo:regimes   typical
// apo:requires  count % 8 == 0 && matrices % 8 == 0 && matrices <= count
// apo:workload  n4m       production count=4194304 matrices=4000000
// apo:workload  n5000     ragged     count=5000 matrices=1000
// apo:workload  n8        small      count=8 matrices=8
template <class Real>
void reference(int64_t count, int64_t matrices, Real rate, Real correction1, Real correction2, const Real* masters,
               const Real* gradients, const Real* first, const Real* second, Real* new_masters, Real* new_first,
               Real* new_second, Real* weights) {
  const Real norm = sqrt(sum<Real>(count, [&](int64_t i) { return gradients[i] * gradients[i]; }));
  const Real factor = norm > Real(1) ? Real(1) / norm : Real(1);
  for (int64_t i = 0; i < count; ++i) {
    const Real gradient = gradients[i] * factor;
    new_first[i] = Real(0.9) * first[i] + Real(0.1) * gradient;
    new_second[i] = Real(0.95) * second[i] + Real(0.05) * gradient * gradient;
    const Real scale = sqrt(new_second[i] / correction2) + Real(1e-8);
    const Real shrink = i < matrices ? rate * Real(0.01) * masters[i] : Real(0);
    weights[i] = new_masters[i] = masters[i] - (shrink + rate / correction1 * new_first[i] / scale);
  }
}
