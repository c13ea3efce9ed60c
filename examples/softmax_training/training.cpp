// training.cpp - a softmax classifier that trains with the kernel of an exported dispatch: a small application for
// `apo compare --application`. With --kernel it prints which source of the dispatch serves its sizes.
#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "row_softmax_dispatch.h"

namespace {

using Clock = std::chrono::steady_clock;
using Softmax = void (*)(const float*, float*, std::int64_t, std::int64_t);

constexpr std::int64_t kRows = 128;  // examples of a batch
constexpr std::int64_t kClasses = 512;
constexpr std::int64_t kFeatures = 8;
constexpr float kLearningRate = 2.0f;

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Softmax load_kernel(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  void* function = handle == nullptr ? nullptr : dlsym(handle, "_Z11row_softmaxPKfPfll");
  if (function == nullptr) {
    std::fprintf(stderr, "training: %s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Softmax>(function);
}

// Points round centres that lie on a circle; the class of a point is its centre.
struct Batch {
  std::vector<float> points = std::vector<float>(kRows * kFeatures);
  std::vector<std::int64_t> classes = std::vector<std::int64_t>(kRows);

  void draw(std::mt19937_64& random) {
    std::normal_distribution<float> noise(0.0f, 0.1f);
    for (std::int64_t row = 0; row < kRows; ++row) {
      classes[row] = static_cast<std::int64_t>(random() % kClasses);
      for (std::int64_t feature = 0; feature < kFeatures; ++feature) {
        const double angle = 0.0123 * static_cast<double>(classes[row] * (feature + 1));
        points[row * kFeatures + feature] = static_cast<float>(std::cos(angle)) + noise(random);
      }
    }
  }
};

class Classifier {
 public:
  explicit Classifier(Softmax softmax) : softmax_(softmax) {}

  // One step of gradient descent; returns the mean loss before it.
  double step(const Batch& batch) {
    predict(batch);
    double loss = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      float& chosen = probabilities_[row * kClasses + batch.classes[row]];
      loss -= std::log(static_cast<double>(chosen)) / kRows;
      chosen -= 1;  // the gradient of the loss by the logits
    }
    descend(batch);
    return loss;
  }

 private:
  void predict(const Batch& batch) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      float* logits = &logits_[row * kClasses];
      std::fill(logits, logits + kClasses, 0.0f);
      for (std::int64_t feature = 0; feature < kFeatures; ++feature) {
        const float x = batch.points[row * kFeatures + feature];
        for (std::int64_t c = 0; c < kClasses; ++c) {
          logits[c] += x * weights_[feature * kClasses + c];
        }
      }
    }
    softmax_(logits_.data(), probabilities_.data(), kRows, kClasses);
  }

  void descend(const Batch& batch) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t feature = 0; feature < kFeatures; ++feature) {
        const float scale = kLearningRate / kRows * batch.points[row * kFeatures + feature];
        for (std::int64_t c = 0; c < kClasses; ++c) {
          weights_[feature * kClasses + c] -= scale * probabilities_[row * kClasses + c];
        }
      }
    }
  }

  Softmax softmax_;
  std::vector<float> weights_ = std::vector<float>(kFeatures * kClasses);
  std::vector<float> logits_ = std::vector<float>(kRows * kClasses);
  std::vector<float> probabilities_ = std::vector<float>(kRows * kClasses);
};

void train(Softmax softmax) {
  const double limit_s = std::atof(environment("APO_SECONDS", "0").c_str());
  const int steps = limit_s > 0 ? 1'000'000'000 : std::atoi(environment("APO_STEPS", "100").c_str());
  std::mt19937_64 random(std::strtoull(environment("APO_SEED", "1").c_str(), nullptr, 10));
  const Clock::time_point begin = Clock::now();
  Classifier classifier(softmax);
  Batch batch;
  for (int step = 1; step <= steps && (limit_s == 0 || seconds_since(begin) < limit_s); ++step) {
    const Clock::time_point start = Clock::now();
    batch.draw(random);
    const double loss = classifier.step(batch);
    std::printf("{\"apo_step\": %d, \"seconds\": %.9f, \"loss\": %.9g, \"examples\": %d}\n", step, seconds_since(start),
                loss, static_cast<int>(kRows));
    std::fflush(stdout);  // apo times the line: it may not wait in a buffer
  }
}

}  // namespace

int main(int argc, char**) {
  namespace table = apo_dispatch::row_softmax;
  if (argc > 1) {
    const table::Choice& choice = table::choose({kRows, kClasses});
    std::printf("%s/%s\n", std::string(choice.source_folder).c_str(), std::string(choice.source_file).c_str());
  } else {
    train(load_kernel(environment("APO_DISPATCH", ".") + "/kernel.so"));
  }
}
