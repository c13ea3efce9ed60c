// apo:variant  adamw/plain
#include <cmath>
#include <cstdint>

void adamw(const float* grads_memory, float* params_memory, float* m_memory, float* v_memory, float learning_rate,
           float beta1, float beta2, float beta1_correction, float beta2_correction, float eps, float weight_decay,
           int64_t num_parameters) {
  for (int64_t i = 0; i < num_parameters; ++i) {
    const float grad = grads_memory[i];
    const float m = m_memory[i] = beta1 * m_memory[i] + (1 - beta1) * grad;
    const float v = v_memory[i] = beta2 * v_memory[i] + (1 - beta2) * grad * grad;
    params_memory[i] -= learning_rate * (m / beta1_correction / (std::sqrt(v / beta2_correction) + eps) +
                                         weight_decay * params_memory[i]);
  }
}
