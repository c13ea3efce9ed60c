// training/output.h - what the program prints: a JSON line a step on stdout, a summary on stderr.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "data/corpus.h"

namespace byte_lm {

struct StepResult {
  std::int64_t step = 0;     // from 1
  double seconds = 0;        // since the end of the step before
  double loss = 0;           // mean over the scored bytes, in nats a byte, before the step's update
  double gradient_norm = 0;  // before clipping
  std::int64_t bytes = 0;    // that the model read

  bool is_finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }
};

// The one place that knows the protocol of the program that judges this one. A number that is not finite is printed as
// it is: the judge has to see it.
inline void print_step(std::FILE* out, const StepResult& result) {
  std::fprintf(out,
               "{\"apo_step\": %lld, \"seconds\": %.9g, \"loss\": %.9g, \"gradient_norm\": %.9g, \"bytes\": %lld}\n",
               static_cast<long long>(result.step), result.seconds, result.loss, result.gradient_norm,
               static_cast<long long>(result.bytes));
  std::fflush(out);  // the judge times the line
}

// What decides the bytes of a run besides its seed: two runs that print the same hash have the same text.
inline void print_corpus(std::FILE* out, const Corpus& corpus) {
  std::fprintf(out, "e88_lm: text %016llx: %lld documents of %lld bytes to train on, %lld of %lld held out\n",
               static_cast<unsigned long long>(corpus.hash()), static_cast<long long>(corpus.train_documents),
               static_cast<long long>(scored_bytes(corpus.train)), static_cast<long long>(corpus.held_out_documents),
               static_cast<long long>(scored_bytes(corpus.held_out)));
}

struct Summary {
  std::int64_t parameters = 0;
  std::int64_t steps = 0;  // after the warm-up
  double seconds = 0;      // that they took
  std::int64_t bytes = 0;
  std::optional<double> held_out_loss;
  double byte_frequency_loss = 0;
};

inline void print_summary(std::FILE* out, const Summary& s) {
  std::fprintf(out, "e88_lm: %lld parameters; after the warm-up %lld steps in %.3f s, %.0f bytes/s\n",
               static_cast<long long>(s.parameters), static_cast<long long>(s.steps), s.seconds,
               s.seconds > 0 ? static_cast<double>(s.bytes) / s.seconds : 0.0);
  if (s.held_out_loss) {
    std::fprintf(out, "e88_lm: held-out loss %.4f nats/byte; byte frequencies alone give %.4f\n", *s.held_out_loss,
                 s.byte_frequency_loss);
  }
}

}  // namespace byte_lm
