// harness/loop/export/torch/torch_gradient.cpp - compares the tensors of two contracts.
#include "harness/loop/export/torch/torch_gradient.h"

#include <algorithm>

#include "harness/core/error.h"

namespace apo {
namespace {

bool is_alike(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.shape_text == b.shape_text;
}

bool is_gradient_of(const TensorSpec& gradient, const TensorSpec& tensor) {
  return (gradient.name == "d" + tensor.name || gradient.name == "d_" + tensor.name) && is_alike(gradient, tensor);
}

template <class Matches>
std::optional<std::size_t> find_tensor(const std::vector<TorchTensor>& tensors, Matches matches) {
  const auto found = std::ranges::find_if(tensors, [&](const TorchTensor& one) { return matches(*one.spec); });
  return found == tensors.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - tensors.begin()));
}

std::optional<GradientInput> source_of(const TensorSpec& input, const TorchContract& forward) {
  using Is = GradientInput::Is;
  const auto is_same = [&](const TensorSpec& one) { return one.name == input.name && is_alike(one, input); };
  const auto arrives = [&](const TensorSpec& one) { return is_gradient_of(input, one); };
  if (const auto found = find_tensor(forward.inputs, is_same)) {
    return GradientInput{Is::input, *found};
  }
  if (const auto found = find_tensor(forward.outputs, is_same)) {
    return GradientInput{Is::output, *found};
  }
  if (const auto found = find_tensor(forward.outputs, arrives)) {
    return GradientInput{Is::gradient, *found};
  }
  return std::nullopt;
}

bool has_axes_of(const Family& family, const Family& forward) {
  return std::ranges::all_of(family.axes, [&](const AxisSpec& axis) {
    return std::ranges::find(forward.axes, axis.name, &AxisSpec::name) != forward.axes.end();
  });
}

// With one of its arguments that has no default and that the forward does not have, it could not be called.
bool has_arguments_for(const TorchContract& forward, TorchGradient& gradient) {
  const std::vector<const TorchAxis*> given = torch_arguments(forward);
  for (const TorchAxis* wanted : torch_arguments(gradient.contract)) {
    if (std::ranges::any_of(given, [&](const TorchAxis* one) { return one->name == wanted->name; })) {
      gradient.arguments.push_back(wanted->name);
    } else if (!wanted->default_value) {
      return false;
    }
  }
  for (const ScalarSpec& scalar : gradient.contract.family->scalars) {
    if (std::ranges::find(forward.family->scalars, scalar.name, &ScalarSpec::name) != forward.family->scalars.end()) {
      gradient.arguments.push_back(scalar.name);
    }
  }
  return true;
}

bool match_inputs(const TorchContract& forward, TorchGradient& gradient) {
  for (const TorchTensor& input : gradient.contract.inputs) {
    const std::optional<GradientInput> source = source_of(*input.spec, forward);
    if (!source) {
      return false;
    }
    gradient.inputs.push_back(*source);
  }
  return std::ranges::any_of(gradient.inputs,
                             [](const GradientInput& one) { return one.is == GradientInput::Is::gradient; });
}

bool match_outputs(const TorchContract& forward, TorchGradient& gradient) {
  for (const TorchTensor& output : gradient.contract.outputs) {
    const auto source =
        find_tensor(forward.inputs, [&](const TensorSpec& input) { return is_gradient_of(*output.spec, input); });
    if (!source) {
      return false;
    }
    gradient.outputs.push_back(*source);
  }
  return true;
}

// nullopt for a family that PyTorch cannot call.
std::optional<TorchContract> contract_of(const Family& family) {
  try {
    return torch_contract(family);
  } catch (const UserError&) {
    return std::nullopt;  // it is no gradient that PyTorch could use
  }
}

// Cheap, and false for almost every pair.
bool could_be_gradient(const Family& family, const Family& forward) {
  return &family != &forward && has_axes_of(family, forward) &&
         std::ranges::any_of(family.tensors, [&](const TensorSpec& one) {
           return one.role != Role::output && std::ranges::any_of(forward.tensors, [&](const TensorSpec& output) {
                    return output.role == Role::output && is_gradient_of(one, output);
                  });
         });
}

}  // namespace

std::optional<TorchGradient> torch_gradient(const TorchContract& forward) {
  for (const Family& family : families()) {
    std::optional<TorchContract> contract =
        could_be_gradient(family, *forward.family) ? contract_of(family) : std::nullopt;
    if (!contract) {
      continue;
    }
    TorchGradient gradient{.contract = *std::move(contract)};
    if (match_inputs(forward, gradient) && match_outputs(forward, gradient) && has_arguments_for(forward, gradient)) {
      return gradient;
    }
  }
  return std::nullopt;
}

}  // namespace apo
