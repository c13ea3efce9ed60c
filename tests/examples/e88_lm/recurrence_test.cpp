// tests/examples/e88_lm/recurrence_test.cpp - the model's recurrence on the host against the references of the families
// e88_forward and e88_backward, whose kernels it stands for.
#include <gtest/gtest.h>

#include "host/host.h"
#include "kernels/e88/e88.h"

namespace byte_lm {
namespace {

constexpr Recurrence kExtents = {.batch = 2, .length = 37, .heads = 3, .state = 8};
const apo::Axes kAxes = {{"B", 2}, {"T", 37}, {"H", 3}, {"N", 8}, {"V", 8}, {"GATE", 1}, {"NORM", 1}};

void expect_near(const std::vector<double>& values, const std::vector<double>& expected, const std::string& name) {
  ASSERT_EQ(values.size(), expected.size()) << name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], 1e-11) << name << "[" << i << "]";
  }
}

// The tensors of one family with its inputs drawn; what stands at the ends of a sequence is zero, as in the model.
class Contract {
 public:
  explicit Contract(apo::Family family) : family_(std::move(family)) {
    inputs_ = family_.fill(kAxes, 1, "typical", 1);
    for (const auto& [name, values] : family_.derive(kAxes, inputs_, 1)) {
      inputs_[name] = values;
    }
    for (const char* name : {"s0", "d_s_final", "checkpoints"}) {
      if (inputs_.contains(name)) {
        std::fill(inputs_.find(name)->second.begin(), inputs_.find(name)->second.end(), 0);
      }
    }
    expected_ = family_.reference(kAxes, inputs_, {}, 1);
    for (const auto& [name, values] : expected_) {
      outputs_[name].resize(values.size());
    }
  }

  const double* input(const std::string& name) { return inputs_.find(name)->second.data(); }
  double* output(const std::string& name) { return outputs_.find(name)->second.data(); }
  void expect_right(const std::string& name) const {
    expect_near(outputs_.find(name)->second, expected_.find(name)->second, name);
  }

 private:
  apo::Family family_;
  apo::TensorMap inputs_, expected_, outputs_;
};

ForwardTensors<double> forward_tensors(Contract& inputs, double* output, double* checkpoints, double* y_cache) {
  return {.k = inputs.input("k"),
          .q = inputs.input("q"),
          .v = inputs.input("v"),
          .gate = inputs.input("g"),
          .decay = inputs.input("decay"),
          .output = output,
          .checkpoints = checkpoints,
          .y_cache = y_cache};
}

TEST(E88LmRecurrence, ForwardIsTheContractOfItsFamily) {
  Contract contract(apo::e88_forward_family());
  Host<double> host;
  host.e88_forward(kExtents, forward_tensors(contract, contract.output("output"), contract.output("checkpoints"),
                                             contract.output("y_cache")));
  for (const char* name : {"output", "checkpoints", "y_cache"}) {
    contract.expect_right(name);
  }
}

TEST(E88LmRecurrence, BackwardIsTheContractOfItsFamily) {
  Contract contract(apo::e88_backward_family());
  const std::size_t count = 2 * 37 * 3 * 8;
  std::vector<double> output(count), y_cache(count), checkpoints(3 * 2 * 3 * 8 * 8);
  Host<double> host;
  const ForwardTensors<double> forward = forward_tensors(contract, output.data(), checkpoints.data(), y_cache.data());
  host.e88_forward(kExtents, forward);
  host.e88_backward(kExtents, {.k = forward.k,
                               .q = forward.q,
                               .v = forward.v,
                               .gate = forward.gate,
                               .decay = forward.decay,
                               .d_output = contract.input("d_output"),
                               .checkpoints = checkpoints.data(),
                               .y_cache = y_cache.data(),
                               .dk = contract.output("dk"),
                               .dq = contract.output("dq"),
                               .dv = contract.output("dv"),
                               .d_gate = contract.output("dg"),
                               .d_decay = contract.output("ddecay")});
  for (const char* name : {"dk", "dq", "dv", "dg", "ddecay"}) {
    contract.expect_right(name);
  }
}

}  // namespace
}  // namespace byte_lm
