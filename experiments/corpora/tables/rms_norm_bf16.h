// apo:family    rms_norm_bf16
// apo:idea      each row over the root of the mean of its squares + 1e-5, times weights; computed in f32
// apo:axis      batch 1..16384
// apo:axis      hidden 4096..4096 specialised
// apo:input     hidden_states bf16[batch,hidden] normal
// apo:input     weight bf16[hidden] normal
// apo:output    output bf16[batch,hidden]
// apo:workload  b7 ragged batch=7 hidden=4096
template <class Real>
void reference(int64_t batch, int64_t hidden, const Real* hidden_states, const Real* weight, Real* output) {
  for (int64_t b = 0; b < batch; ++b, hidden_states += hidden, output += hidden) {
    const Real squares = sum<Real>(hidden, [&](int64_t i) { return hidden_states[i] * hidden_states[i]; });
    for (int64_t i = 0; i < hidden; ++i)
      output[i] = hidden_states[i] / sqrt(squares / Real(hidden) + Real(1e-5)) * weight[i];
  }
}
