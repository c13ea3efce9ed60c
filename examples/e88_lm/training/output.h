// training/output.h - what the program prints: a JSON line a step on stdout, a summary on stderr.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>

namespace e88_lm {

struct StepResult {
  std::int64_t step = 0;  // from 1
  double seconds = 0;     // since the end of the step before
  double loss = 0;        // mean over the scored bytes, in nats a byte, before the step's update
};

// The one place that knows the protocol of the program that judges this one.
inline void print_step(std::FILE* out, const StepResult& result) {
  std::fprintf(out, "{\"apo_step\": %lld, \"seconds\": %.9g, \"loss\": %.9g}\n", static_cast<long long>(result.step),
               result.seconds, result.loss);
  std::fflush(out);
}

struct Summary {
  std::int64_t parameters = 0;
  std::int64_t steps = 0;
  double seconds = 0;  // of all steps
  std::int64_t bytes = 0;
  std::optional<double> held_out_loss;
  double byte_frequency_loss = 0;
};

inline void print_summary(std::FILE* out, const Summary& s) {
  std::fprintf(out, "e88_lm: %lld parameters, %lld steps in %.3f s, %.0f bytes/s\n",
               static_cast<long long>(s.parameters), static_cast<long long>(s.steps), s.seconds,
               s.seconds > 0 ? static_cast<double>(s.bytes) / s.seconds : 0.0);
  if (s.held_out_loss) {
    std::fprintf(out, "e88_lm: held-out loss %.4f nats/byte; byte frequencies alone give %.4f\n", *s.held_out_loss,
                 s.byte_frequency_loss);
  }
}

}  // namespace e88_lm
