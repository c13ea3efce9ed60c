// apo:family    int8_quant
// apo:idea      each token's activations as int8, with a scale of its own: its largest magnitude becomes 127
// apo:axis      num_tokens 1..1048576
// apo:axis      hidden_size 1..65536
// apo:input     input f32[num_tokens,hidden_size] normal
// apo:output    out i8[num_tokens,hidden_size]
// apo:output    scale f32[num_tokens]
// apo:workload  t4096_h4096 production num_tokens=4096 hidden_size=4096
// apo:workload  t3_h40      small      num_tokens=3 hidden_size=40
template <class Real>
void reference(int64_t num_tokens, int64_t hidden_size, const Real* input, int64_t* out, Real* scale) {
  for (int64_t t = 0; t < num_tokens; ++t) {
    Real largest = 0;
    for (int64_t h = 0; h < hidden_size; ++h)
      largest = max(largest, abs(input[t * hidden_size + h]));
    scale[t] = largest / Real(127);
    for (int64_t h = 0; h < hidden_size; ++h)
      out[t * hidden_size + h] =
          largest == Real(0) ? 0 : static_cast<int64_t>(round(input[t * hidden_size + h] / largest * Real(127)));
  }
}
