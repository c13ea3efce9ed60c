// apo:family    adamw
// apo:idea      one step of AdamW: the parameters and both moments change where they stand
// apo:axis      num_parameters 1..268435456
// apo:scalar    learning_rate f32 1e-3
// apo:scalar    beta1 f32 0.9
// apo:scalar    beta2 f32 0.999
// apo:scalar    beta1_correction f32 0.65
// apo:scalar    beta2_correction f32 0.01
// apo:scalar    eps f32 1e-8
// apo:scalar    weight_decay f32 0.01
// apo:input     grads_memory f32[num_parameters] normal
// apo:inout     params_memory f32[num_parameters] normal
// apo:inout     m_memory f32[num_parameters] normal(0,0.1)
// apo:inout     v_memory f32[num_parameters] positive
// apo:workload  n1m production num_parameters=1048576
template <class Real>
void reference(int64_t num_parameters, Real learning_rate, Real beta1, Real beta2, Real beta1_correction,
               Real beta2_correction, Real eps, Real weight_decay, const Real* grads_memory, Real* params_memory,
               Real* m_memory, Real* v_memory) {
  for (int64_t i = 0; i < num_parameters; ++i) {
    const Real grad = grads_memory[i];
    m_memory[i] = beta1 * m_memory[i] + (Real(1) - beta1) * grad;
    v_memory[i] = beta2 * v_memory[i] + (Real(1) - beta2) * grad * grad;
    const Real m_hat = m_memory[i] / beta1_correction;
    const Real v_hat = v_memory[i] / beta2_correction;
    params_memory[i] -= learning_rate * (m_hat / (sqrt(v_hat) + eps) + weight_decay * params_memory[i]);
  }
}
