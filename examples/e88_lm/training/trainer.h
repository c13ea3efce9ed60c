// training/trainer.h - a training: the model, its optimizer, its batches and its checkpoints, on any backend.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "data/batches.h"
#include "data/corpus.h"
#include "data/error.h"
#include "model/model.h"
#include "training/checkpoint.h"
#include "training/output.h"
#include "training/settings.h"
#include "training/upload.h"

namespace byte_lm {

// Ends a training whose loss or gradient is no number: nothing after it would mean anything.
struct NotFinite : std::runtime_error {
  explicit NotFinite(const StepResult& result)
      : std::runtime_error("step " + std::to_string(result.step) + " is not finite: loss " +
                           std::to_string(result.loss) + ", norm of the gradient " +
                           std::to_string(result.gradient_norm)) {}
};

template <class Backend>
class Trainer {
 public:
  using Full = typename Backend::Full;

  Trainer(Backend& backend, const Settings& settings, const Corpus& corpus)
      : backend_(backend),
        settings_(settings),
        corpus_(corpus),
        model_(backend, settings.size, settings.shape, settings.fused_projection),
        count_(model_.parameters().elements),
        first_(backend.template allocate<Full>(count_)),
        second_(backend.template allocate<Full>(count_)),
        squares_(backend.template allocate<double>(1)) {
    const std::vector<float> drawn = initial_masters(settings.size, settings.seed);
    if constexpr (std::is_same_v<Full, float>) {
      set_masters(drawn);
    } else {
      set_masters({drawn.begin(), drawn.end()});
    }
  }

  Model<Backend>& model() { return model_; }
  std::int64_t step() const { return step_; }

  // Without its seconds.
  StepResult train_step() {
    const Batch batch = training_batch(corpus_.train, settings_.shape, settings_.seed, step_ + 1);
    upload(batch, step_ + 1);
    backend_.repeat([this] {
      model_.forward();
      model_.backward();
      update();
    });
    ++step_;
    const double loss = read(model_.loss_sum()) / static_cast<double>(std::max<std::int64_t>(batch.scored, 1));
    return {.step = step_, .loss = loss, .gradient_norm = std::sqrt(read(squares_)), .bytes = settings_.shape.rows()};
  }

  // Over the first `batches` of the held-out windows, or all where that is negative.
  double held_out_loss(std::int64_t batches) {
    const std::int64_t all = window_batches(corpus_.held_out, settings_.shape);
    double sum = 0;
    std::int64_t scored = 0;
    for (std::int64_t i = 0; i < (batches < 0 ? all : std::min(batches, all)); ++i) {
      const Batch batch = window_batch(corpus_.held_out, settings_.shape, i);
      upload(batch, step_);
      model_.forward();
      sum += read(model_.loss_sum());
      scored += batch.scored;
    }
    return sum / static_cast<double>(scored);
  }

  TrainingState state() {
    TrainingState state = {.identity = identity(), .step = step_, .data = {}};
    state.data.resize(3 * bytes());
    std::size_t at = 0;
    for (const Full* values : {model_.masters(), first_, second_}) {
      backend_.download(values, count_, reinterpret_cast<Full*>(state.data.data() + at));
      at += bytes();
    }
    return state;
  }

  void restore(const TrainingState& state) {
    step_ = state.step;
    std::size_t at = 0;
    for (Full* values : {model_.masters(), first_, second_}) {
      backend_.upload(reinterpret_cast<const Full*>(state.data.data() + at), count_, values);
      at += bytes();
    }
    backend_.round_weights(count_, model_.masters(), model_.weights());
  }

  TrainingIdentity identity() const {
    return {.size = settings_.size,
            .batch = settings_.shape.batch,
            .length = settings_.shape.length,
            .seed = settings_.seed,
            .corpus = corpus_.hash(),
            .number_bytes = sizeof(Full)};
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(Full); }

  double read(const double* value) {
    double result = 0;
    backend_.download(value, 1, &result);
    return result;
  }

  void set_masters(const std::vector<Full>& masters) {
    backend_.upload(masters.data(), count_, model_.masters());
    backend_.round_weights(count_, model_.masters(), model_.weights());
  }

  void upload(const Batch& batch, std::int64_t step) {
    byte_lm::upload(backend_, batch, scalars(batch, step), model_.inputs());
  }

  StepScalars scalars(const Batch& batch, std::int64_t step) const {
    const auto number = static_cast<double>(step);
    const double rise = std::min(1.0, number / static_cast<double>(std::max<std::int64_t>(settings_.rate_steps, 1)));
    return {.inverse_scored = 1.0 / static_cast<double>(std::max<std::int64_t>(batch.scored, 1)),
            .rate = settings_.rate * rise,
            .correction1 = 1 - std::pow(settings_.adam.beta1, number),
            .correction2 = 1 - std::pow(settings_.adam.beta2, number)};
  }

  void update() {
    const auto range = backend_.range("optimizer");
    backend_.sum_squares(count_, model_.gradients(), squares_);
    backend_.adamw(count_, model_.parameters().matrices, settings_.adam, model_.inputs().scalars, squares_,
                   model_.masters(), model_.gradients(), first_, second_, model_.weights());
  }

  Backend& backend_;
  Settings settings_;
  const Corpus& corpus_;
  Model<Backend> model_;
  std::int64_t count_;
  Full *first_, *second_;
  double* squares_;  // of the gradients
  std::int64_t step_ = 0;
};

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

inline bool is_done(const Settings& settings, std::int64_t step, Clock::time_point began) {
  return settings.seconds > 0 ? seconds_between(began, Clock::now()) >= settings.seconds : step >= settings.steps;
}

// Trains as `settings` say and calls `report` after each step. `began`: when the program did. Throws NotFinite after
// the report of such a step.
template <class Backend>
Summary train(Backend& backend, const Settings& settings, const Corpus& corpus, Clock::time_point began,
              const std::function<void(const StepResult&)>& report) {
  Trainer<Backend> trainer(backend, settings, corpus);
  if (settings.resume) {
    trainer.restore(read_checkpoint(settings.checkpoint, trainer.identity()));
  }
  Summary summary = {.parameters = trainer.model().parameters().count()};
  for (Clock::time_point last = Clock::now(); !is_done(settings, trainer.step(), began);) {
    StepResult result = trainer.train_step();
    const Clock::time_point now = Clock::now();
    result.seconds = seconds_between(std::exchange(last, now), now);
    report(result);
    if (!result.is_finite()) {
      throw NotFinite(result);
    }
    if (result.step > settings.warmup_steps) {
      ++summary.steps;
      summary.seconds += result.seconds;
      summary.bytes += result.bytes;
    }
    if (settings.checkpoint_every > 0 && result.step % settings.checkpoint_every == 0) {
      write_checkpoint(settings.checkpoint, trainer.state());
    }
  }
  if (!settings.checkpoint.empty()) {
    write_checkpoint(settings.checkpoint, trainer.state());
  }
  if (settings.evaluate != 0) {
    summary.held_out_loss = trainer.held_out_loss(settings.evaluate);
    summary.byte_frequency_loss = byte_frequency_loss(corpus);
  }
  return summary;
}

}  // namespace byte_lm
