// apo:family    adamw
// apo:idea      one AdamW step: parameters and both moments change where they stand
// apo:axis      n 1..16777216
// apo:scalar    lr f32 1e-3
// apo:scalar    beta1 f32 0.9
// apo:scalar    beta2 f32 0.999
// apo:scalar    eps f32 1e-8
// apo:scalar    decay f32 0.01
// apo:input     g f32[n] normal
// apo:inout     p f32[n] normal
// apo:inout     m f32[n] normal(0,0.1)
// apo:inout     v f32[n] positive
// apo:unit      n/4096
// apo:workload  n128k production n=131072
// apo:workload  n5000 ragged     n=5000
// apo:workload  n64   small      n=64
template <class Real>
void reference(int64_t n, Real lr, Real beta1, Real beta2, Real eps, Real decay, const Real* g, Real* p, Real* m,
               Real* v) {
  for (int64_t i = 0; i < n; ++i) {
    m[i] = beta1 * m[i] + (Real(1) - beta1) * g[i];
    v[i] = beta2 * v[i] + (Real(1) - beta2) * g[i] * g[i];
    p[i] -= lr * (m[i] / (sqrt(v[i]) + eps) + decay * p[i]);
  }
}
