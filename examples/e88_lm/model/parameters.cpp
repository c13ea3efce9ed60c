// model/parameters.cpp - lays matrices out first, then vectors, and draws their first values.
#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "model/random.h"

namespace byte_lm {
namespace {

class Layout {
 public:
  Parameter add(std::string name, std::int64_t rows, std::int64_t columns, std::int64_t padded_rows = 0) {
    Parameter parameter = {.name = std::move(name),
                           .rows = rows,
                           .columns = columns,
                           .padded_rows = std::max(rows, padded_rows),
                           .offset = end_};
    end_ += (parameter.padded_rows * columns + kAlignment - 1) / kAlignment * kAlignment;
    return parameter;
  }
  std::int64_t end() const { return end_; }

 private:
  // 16 bytes of bf16. The rows of a projection, dim elements, are a multiple of it, so that its parts leave no gap.
  static constexpr std::int64_t kAlignment = 8;
  std::int64_t end_ = 0;
};

// Glorot & Bengio 2010.
void fill_xavier(const Parameter& parameter, std::uint64_t seed, std::vector<float>& masters) {
  const Random random(seed, parameter.name);
  const double bound = std::sqrt(6.0 / static_cast<double>(parameter.rows + parameter.columns));
  for (std::int64_t i = 0; i < parameter.count(); ++i) {
    const double value = bound * (2 * random.uniform(static_cast<std::uint64_t>(i)) - 1);
    masters[static_cast<std::size_t>(parameter.offset + i)] = static_cast<float>(value);
  }
}

template <class Draw>
void fill(const Parameter& parameter, std::uint64_t seed, std::vector<float>& masters, Draw draw) {
  const Random random(seed, parameter.name);
  for (std::int64_t i = 0; i < parameter.count(); ++i) {
    masters[static_cast<std::size_t>(parameter.offset + i)] =
        static_cast<float>(draw(random, static_cast<std::uint64_t>(i)));
  }
}

// As Mamba 2: A uniform in (0,16); the time step log-uniform in [1e-3, 0.1], its bias the inverse of softplus.
void fill_decay(const LayerParameters& layer, std::uint64_t seed, std::vector<float>& masters) {
  fill(layer.a_log, seed, masters,
       [](const Random& random, std::uint64_t i) { return std::log(16 * random.uniform(i)); });
  fill(layer.dt_bias, seed, masters, [](const Random& random, std::uint64_t i) {
    const double drawn = std::exp(std::log(1e-3) + random.uniform(i) * (std::log(0.1) - std::log(1e-3)));
    const double step = std::max(drawn, 1e-4);
    return step + std::log(-std::expm1(-step));
  });
}

}  // namespace

Parameters::Parameters(const ModelSize& size) {
  Layout layout;
  const std::int64_t width = size.key_width();
  embedding = layout.add("embedding", kVocabulary, size.dim);
  layers.resize(static_cast<std::size_t>(size.depth));
  const auto name = [&](const LayerParameters& layer, const char* part) {
    return "layer" + std::to_string(&layer - layers.data()) + "." + part;
  };
  for (LayerParameters& layer : layers) {
    layer.qkv = layout.add(name(layer, "qkv"), 3 * width, size.dim);
    layer.gate = layout.add(name(layer, "gate"), width, size.dim);
    layer.alpha = layout.add(name(layer, "alpha"), size.heads, size.dim, size.alpha_width());
    layer.output = layout.add(name(layer, "output"), size.dim, width);
  }
  matrices = layout.end();
  for (LayerParameters& layer : layers) {
    layer.norm = layout.add(name(layer, "norm"), 1, size.dim);
    layer.a_log = layout.add(name(layer, "a_log"), 1, size.heads);
    layer.dt_bias = layout.add(name(layer, "dt_bias"), 1, size.heads);
  }
  final_norm = layout.add("final_norm", 1, size.dim);
  elements = layout.end();
}

std::vector<Parameter> Parameters::all() const {
  std::vector<Parameter> list = {embedding};
  for (const LayerParameters& layer : layers) {
    list.insert(list.end(), {layer.qkv, layer.gate, layer.alpha, layer.output, layer.norm, layer.a_log, layer.dt_bias});
  }
  list.push_back(final_norm);
  return list;
}

std::int64_t Parameters::count() const {
  std::int64_t total = 0;
  for (const Parameter& parameter : all()) {
    total += parameter.count();
  }
  return total;
}

std::vector<float> initial_masters(const ModelSize& size, std::uint64_t seed) {
  const Parameters parameters(size);
  std::vector<float> masters(static_cast<std::size_t>(parameters.elements));
  const auto one = [](const Random&, std::uint64_t) { return 1.0; };
  fill(parameters.embedding, seed, masters,
       [](const Random& random, std::uint64_t i) { return 0.02 * random.normal(i); });
  // A thread a layer: the 437 million numbers of the default model take one core two seconds.
  std::vector<std::jthread> threads;
  for (const LayerParameters& layer : parameters.layers) {
    threads.emplace_back([&] {
      for (const Parameter* matrix : {&layer.qkv, &layer.gate, &layer.alpha, &layer.output}) {
        fill_xavier(*matrix, seed, masters);
      }
      fill(layer.norm, seed, masters, one);
      fill_decay(layer, seed, masters);
    });
  }
  threads.clear();  // joins them
  fill(parameters.final_norm, seed, masters, one);
  return masters;
}

}  // namespace byte_lm
