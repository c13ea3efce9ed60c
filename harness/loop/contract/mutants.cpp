// harness/loop/contract/mutants.cpp - mistakes in the outputs, and mistakes in the arithmetic.
#include "harness/loop/contract/mutants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "harness/runtime/runtime.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Outputs = std::optional<TensorMap>;
using Values = std::vector<double>;

template <class Change>
TensorMap changed(const MutantSource& source, const TensorSpec& tensor, Change change) {
  TensorMap outputs = source.honest;
  change(outputs.at(tensor.name));
  return outputs;
}

std::size_t row_length(const MutantSource& source, const TensorSpec& tensor) {
  const auto extents = tensor.shape(source.inputs.axes);
  return extents.empty() ? 1 : static_cast<std::size_t>(extents.back());
}

Outputs zeros(const MutantSource& source, const TensorSpec& tensor) {
  return changed(source, tensor, [](Values& values) { std::ranges::fill(values, 0.0); });
}

Outputs last_element(const MutantSource& source, const TensorSpec& tensor) {
  return changed(source, tensor,
                 [&](Values& values) { values.back() = source.of_other_inputs.at(tensor.name).back(); });
}

Outputs stale_row(const MutantSource& source, const TensorSpec& tensor) {
  const Values& stale = source.of_other_inputs.at(tensor.name);
  const auto length = static_cast<std::ptrdiff_t>(row_length(source, tensor));
  return changed(source, tensor,
                 [&](Values& values) { std::copy(stale.end() - length, stale.end(), values.end() - length); });
}

Outputs stale_call(const MutantSource& source, const TensorSpec& tensor) {
  return changed(source, tensor, [&](Values& values) { values = source.of_other_inputs.at(tensor.name); });
}

Outputs shifted(const MutantSource& source, const TensorSpec& tensor) {
  return source.honest.at(tensor.name).size() < 2 ? Outputs() : changed(source, tensor, [](Values& values) {
    std::rotate(values.begin(), values.begin() + 1, values.end());
  });
}

Outputs transposed(const MutantSource& source, const TensorSpec& tensor) {
  const auto extents = tensor.shape(source.inputs.axes);
  if (extents.size() < 2 || extents.back() < 2 || extents[extents.size() - 2] < 2) {
    return std::nullopt;
  }
  const auto columns = static_cast<std::size_t>(extents.back());
  const auto rows = static_cast<std::size_t>(extents[extents.size() - 2]);
  return changed(source, tensor, [&](Values& values) {
    const Values before = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t within = i % (rows * columns);
      values[i - within + (within % columns) * rows + within / columns] = before[i];
    }
  });
}

Outputs scaled(const MutantSource& source, const TensorSpec& tensor) {
  return changed(source, tensor, [&](Values& values) {
    std::ranges::transform(values, values.begin(),
                           [&](double value) { return is_float(tensor.dtype) ? 1.002 * value : value + 1; });
  });
}

Outputs one_nan(const MutantSource& source, const TensorSpec& tensor) {
  if (!is_float(tensor.dtype)) {
    return std::nullopt;
  }
  return changed(source, tensor,
                 [](Values& values) { values[values.size() / 2] = std::numeric_limits<double>::quiet_NaN(); });
}

Outputs half_written(const MutantSource& source, const TensorSpec& tensor) {
  const std::uint64_t poison = 0x0101010101010101 * poison_byte(tensor.dtype, source.inputs.seed);
  return changed(source, tensor, [&](Values& values) {
    const auto half = std::ssize(values) / 2;
    if (tensor.in_place) {
      std::copy(source.inputs.values.at(tensor.name).begin() + half, source.inputs.values.at(tensor.name).end(),
                values.begin() + half);
    } else {
      std::fill(values.begin() + half, values.end(), from_bits(tensor.dtype, poison));
    }
  });
}

Outputs first_unit_repeated(const MutantSource& source, const TensorSpec& tensor) {
  const Axes& axes = source.inputs.axes;
  const std::int64_t units = source.family.unit_count(axes);
  if (units < 2) {
    return std::nullopt;
  }
  const auto elements = [&](std::int64_t unit) {
    std::vector<std::size_t> indices;
    for (const ElementRun& run : source.family.unit_elements(axes, tensor.name, unit)) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        indices.push_back(static_cast<std::size_t>(run.offset + i));
      }
    }
    return indices;
  };
  std::int64_t next = 0;
  std::vector<std::size_t> first;  // that has any of this output
  while (first.empty() && next < units) {
    first = elements(next++);
  }
  return changed(source, tensor, [&](Values& values) {
    for (std::int64_t unit = next; unit < units; ++unit) {
      const std::vector<std::size_t> own = elements(unit);
      for (std::size_t i = 0; i < std::min(first.size(), own.size()); ++i) {
        values[own[i]] = values[first[i]];
      }
    }
  });
}

Outputs rounded_to_bf16(const MutantSource& source, const TensorSpec& tensor) {
  if (!is_float(tensor.dtype) || facts_of(tensor.dtype).precision <= facts_of(DType::bf16).precision) {
    return std::nullopt;
  }
  return changed(source, tensor, [](Values& values) {
    std::ranges::transform(values, values.begin(), [](double value) { return round_to(DType::bf16, value); });
  });
}

Outputs computed(const MutantSource& source, const TensorSpec& tensor, oracle::Mode mode) {
  const auto found = source.mistaken.find(mode);
  if (found == source.mistaken.end()) {
    return std::nullopt;
  }
  return changed(source, tensor, [&](Values& values) {
    std::ranges::transform(found->second.at(tensor.name), values.begin(),
                           [&](double value) { return round_to(tensor.dtype, value); });
  });
}

Outputs bf16_sums(const MutantSource& source, const TensorSpec& tensor) {
  return computed(source, tensor, oracle::Mode::bf16_sums);
}
Outputs dropped_term(const MutantSource& source, const TensorSpec& tensor) {
  return computed(source, tensor, oracle::Mode::dropped_term);
}
Outputs wrong_sign(const MutantSource& source, const TensorSpec& tensor) {
  return computed(source, tensor, oracle::Mode::wrong_sign);
}

// The outputs of a call that takes, of each draw, what `take` says for its number and probabilities.
template <class Take>
Outputs redrawn(const MutantSource& source, Take take) {
  const Alternatives& all = source.expected.random;
  TensorMap outputs = source.honest;
  std::map<std::string, std::size_t> next;  // of each output, in the gathered tensors
  for (std::int64_t u = 0; u < source.family.unit_count(source.inputs.axes); ++u) {
    for (const TensorSpec& tensor : source.family.tensors) {
      if (tensor.role != Role::output || !tensor.random) {
        continue;
      }
      for (const ElementRun& run : source.family.unit_elements(source.inputs.axes, tensor.name, u)) {
        for (std::int64_t i = run.offset; i < run.offset + run.count; ++i) {
          const std::size_t at = next[tensor.name]++;
          std::vector<double> probabilities;
          for (const Alternative& each : all.each) {
            probabilities.push_back(each.probability.at(tensor.name)[at]);
          }
          const auto draw = static_cast<std::int64_t>(all.draws.at(tensor.name)[at]);
          const std::size_t taken = draw < 0 ? 0 : take(u, draw, probabilities);
          outputs.at(tensor.name)[static_cast<std::size_t>(i)] = all.each[taken].values.at(tensor.name)[at];
        }
      }
    }
  }
  return outputs;
}

std::size_t by_chance(const std::vector<double>& probabilities, Random random) {
  double left = random.uniform();
  std::size_t taken = 0;
  while (taken + 1 < probabilities.size() && left >= probabilities[taken]) {
    left -= probabilities[taken++];
  }
  return taken;
}

// The draws of a unit, each its own.
Random random_of(std::int64_t unit, std::int64_t draw) {
  return Random(mix64(static_cast<std::uint64_t>(unit)) ^ static_cast<std::uint64_t>(draw) << 20);
}

std::size_t last_of(const std::vector<double>& probabilities) {
  std::size_t last = probabilities.size() - 1;
  while (last > 0 && probabilities[last] == 0) {
    --last;
  }
  return last;
}

Outputs always_first(const MutantSource& source, const TensorSpec&) {
  return redrawn(source, [](auto, auto, const auto&) { return std::size_t{0}; });
}

Outputs always_last(const MutantSource& source, const TensorSpec&) {
  return redrawn(source, [](auto, auto, const auto& probabilities) { return last_of(probabilities); });
}

Outputs biased(const MutantSource& source, const TensorSpec&) {
  return redrawn(source, [](std::int64_t unit, std::int64_t draw, const auto& probabilities) {
    Random random = random_of(unit, draw);
    return random.below(10) == 0 ? last_of(probabilities) : by_chance(probabilities, Random(random.next()));
  });
}

Outputs same_mask(const MutantSource& source, const TensorSpec& tensor) {
  const auto elements = static_cast<std::int64_t>(source.honest.at(tensor.name).size());
  const auto row = static_cast<std::int64_t>(row_length(source, tensor));
  const std::int64_t period = std::max<std::int64_t>(1, row < elements ? row : elements / 16);
  return redrawn(source, [period](auto, std::int64_t draw, const auto& probabilities) {
    return by_chance(probabilities, random_of(0, draw % period));
  });
}

}  // namespace

const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> kMutants = {
      {.name = "zeros", .meaning = "every element is 0", .make = zeros},
      {.name = "last-element",
       .meaning = "the last element is left as another call wrote it",
       .may_be_drawn = true,
       .make = last_element},
      {.name = "stale-row",
       .meaning = "the last row is left as another call wrote it",
       .may_be_drawn = true,
       .make = stale_row},
      {.name = "stale-call",
       .meaning = "all of the output is another call's",
       .may_be_drawn = true,
       .make = stale_call},
      {.name = "off-by-one", .meaning = "each element is its neighbour's", .may_be_drawn = true, .make = shifted},
      {.name = "transposed", .meaning = "the last two extents are exchanged", .may_be_drawn = true, .make = transposed},
      {.name = "first-unit",
       .meaning = "every unit is the first one",
       .may_be_drawn = true,
       .make = first_unit_repeated},
      {.name = "half-written", .meaning = "the second half is not written", .make = half_written},
      {.name = "one-nan", .meaning = "one element is NaN", .make = one_nan},
      {.name = "scaled", .meaning = "times 1.002; an integer plus 1", .mild = true, .make = scaled},
      {.name = "bf16-output", .meaning = "rounded to bf16", .mild = true, .make = rounded_to_bf16},
      {.name = "bf16-sums", .meaning = "every sum is rounded to bf16", .mild = true, .make = bf16_sums},
      {.name = "dropped-term", .meaning = "one term of one sum a unit is left out", .mild = true, .make = dropped_term},
      {.name = "wrong-sign", .meaning = "one term a unit has the wrong sign", .mild = true, .make = wrong_sign},
      {.name = "always-first",
       .meaning = "every draw takes the first alternative",
       .of_random = true,
       .make = always_first},
      {.name = "always-last",
       .meaning = "every draw takes the last alternative",
       .of_random = true,
       .make = always_last},
      {.name = "biased",
       .meaning = "one draw in ten takes the last alternative, whatever its probability",
       .of_random = true,
       .make = biased},
      {.name = "same-mask", .meaning = "all rows draw alike", .of_random = true, .make = same_mask}};
  return kMutants;
}

const Mutant& mutant_named(const std::string& name) {
  return *std::ranges::find(mutants(), name, &Mutant::name);
}

std::optional<TensorBytes> planted(const Mutant& mutant, const MutantSource& source, const std::string& tensor) {
  if (source.honest.at(tensor).empty() || (mutant.of_random && !find_output(source.family, tensor)->random)) {
    return std::nullopt;
  }
  const auto outputs = mutant.make(source, *find_output(source.family, tensor));
  return outputs ? std::optional(stored(source.family, *outputs, source.threads)) : std::nullopt;
}

TensorBytes stored(const Family& family, const TensorMap& outputs, int threads) {
  TensorBytes bytes;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      bytes[tensor.name] = encode(tensor.dtype, outputs.at(tensor.name), threads);
    }
  }
  return bytes;
}

Comparison held_against(const Family& family, const InputSet& inputs, const Expected& expected,
                        const TensorBytes& outputs, int threads) {
  OutputViews views;
  for (const auto& [name, bytes] : outputs) {
    views[name] = bytes;
  }
  return compare_outputs(family, inputs.axes, expected, views, threads);
}

}  // namespace apo
