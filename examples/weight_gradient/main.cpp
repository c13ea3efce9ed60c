// main.cpp - calls the kernel that the dispatch chose, linked with it, and checks both gradients of activations *
// weight.
#include <cmath>
#include <cstdio>
#include <vector>

#include "binary_backward.args.h"
#include "size.h"

void binary_backward(const binary_backward_args& arguments);

int main() {
  std::vector<float> g(kRows * kColumns), activations(g.size()), weight(kColumns);
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] = std::sin(static_cast<float>(i));
    activations[i] = std::cos(static_cast<float>(i));
  }
  for (std::size_t j = 0; j < weight.size(); ++j) {
    weight[j] = 1.0f + static_cast<float>(j);
  }
  std::vector<float> to_activations(g.size()), to_weight(weight.size());
  binary_backward({g.data(), activations.data(), weight.data(), to_activations.data(), to_weight.data(), kSize.op,
                   kSize.need_dA, kSize.need_dB, kSize.kept, kSize.d0, kSize.d1, kSize.d2, kSize.d3, kSize.d4, kSize.d5,
                   kSize.d6, kSize.d7});
  double worst = 0;
  for (std::size_t j = 0; j < weight.size(); ++j) {
    double sum = 0;
    for (std::size_t i = j; i < g.size(); i += weight.size()) {
      sum += static_cast<double>(g[i]) * activations[i];
      worst = std::fmax(worst, std::fabs(to_activations[i] - static_cast<double>(g[i]) * weight[j]));
    }
    worst = std::fmax(worst, std::fabs(to_weight[j] - sum));
  }
  std::printf("%s: gradients are %s\n", table::choose(kSize).variant.data(), worst < 1e-4 ? "right" : "wrong");
  return worst < 1e-4 ? 0 : 1;
}
