// harness/evaluate/correctness/every_element.cpp - compares all elements at memory speed, and units where that finds
// any.
#include "harness/evaluate/correctness/every_element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "harness/evaluate/correctness/compare.h"
#include "kernels/closeness.h"
#include "kernels/parallel.h"

namespace apo {
namespace {

constexpr std::size_t kChunk = 4096;        // elements that are in doubt together
constexpr std::size_t kChunksOfTask = 64;   // that a thread looks at in a row
constexpr std::int64_t kUnitsOfTask = 256;  // likewise, at most
constexpr double kNoValue = 1e9;            // the doubt of an element that holds no value of its dtype

struct Output {
  const TensorSpec* tensor = nullptr;
  Tolerance tolerance;
  TypicalError typical;
  OutputView actual;
  std::span<const std::byte> witness;  // empty: none
  std::vector<char> chunks;            // each: whether an element of it is in doubt
};

// The loops over elements have no branch and no call: the compiler makes vector code of them.
template <DType kDType>
auto bits_at(const std::byte* bytes, std::size_t element) {
  constexpr auto kWidth = static_cast<std::size_t>(dtype_bytes(kDType));
  UnsignedOf<kWidth> bits = 0;
  std::memcpy(&bits, bytes + element * kWidth, kWidth);
  return bits;
}

// Whether no value of the dtype has the bits of the filling.
bool is_filling_no_value(const Output& output) {
  const DType dtype = output.tensor->dtype;
  return output.actual.poison == 0xFF && (is_float(dtype) || dtype == DType::boolean);
}

template <DType kDType>
bool is_any_unwritten(const OutputView& actual, std::size_t begin, std::size_t end) {
  using Bits = decltype(bits_at<kDType>(nullptr, 0));
  const auto poison = static_cast<Bits>(0x0101010101010101ULL * actual.poison);
  const std::byte* const bytes = actual.bytes.data();
  Bits found = 0;
  for (std::size_t i = begin; i < end; ++i) {
    found = static_cast<Bits>(found | (bits_at<kDType>(bytes, i) == poison ? 1 : 0));
  }
  return found != 0;
}

// Also infinities and NaN, where a contract has them.
bool is_same(double x, double w) {
  return x == w || (std::isnan(x) && std::isnan(w));
}

// False where all differ so little that no bound of their units can be exceeded: with a scale s and a rounding r, an
// element's is r + element_sigmas * s, and its part of the rms statistic at most |x - w| / 2 / max(s, r / sqrt(3)).
template <DType kDType>
bool is_any_far(const Output& output, std::size_t begin, std::size_t end) {
  constexpr auto kWidth = static_cast<std::size_t>(dtype_bytes(kDType));
  const std::byte* const actual = output.actual.bytes.data();
  const std::byte* const witness = output.witness.data();
  if (std::memcmp(actual + begin * kWidth, witness + begin * kWidth, (end - begin) * kWidth) == 0) {
    return false;
  }
  const Tolerance& tolerance = output.tolerance;
  const double of_scale = 2 * std::min(tolerance.element_sigmas, tolerance.rms_factor);
  const double of_rounding = 2 * std::min(1.0, tolerance.rms_factor / std::sqrt(3.0));
  const double relative = std::max(of_scale * output.typical.relative, of_rounding * tolerance.output_rounding);
  const double smallest = std::max(of_scale * output.typical.smallest, of_rounding * tolerance.output_spacing / 2);
  std::uint64_t any = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double x = from_bits(kDType, bits_at<kDType>(actual, i));
    const double w = from_bits(kDType, bits_at<kDType>(witness, i));
    const bool is_near = std::fabs(x - w) <= std::max(relative * std::fabs(w), smallest);  // not NaN beside a number
    any |= (is_near | (x == w) | ((x != x) & (w != w))) ? 0 : 1;
  }
  return any != 0;
}

void find_chunks(Output& output, int threads) {
  const auto elements = output.actual.bytes.size() / static_cast<std::size_t>(dtype_bytes(output.tensor->dtype));
  output.chunks.assign((elements + kChunk - 1) / kChunk, 0);
  const std::size_t tasks = (output.chunks.size() + kChunksOfTask - 1) / kChunksOfTask;
  const bool looks_for_filling = output.witness.empty() || is_filling_no_value(output);
  with_dtype(output.tensor->dtype, [&]<DType kDType>() {
    for_each_index(tasks, threads, [&](std::size_t task) {
      const std::size_t last = std::min(output.chunks.size(), (task + 1) * kChunksOfTask);
      for (std::size_t i = task * kChunksOfTask; i < last; ++i) {
        const std::size_t end = std::min(elements, (i + 1) * kChunk);
        const bool far = !output.witness.empty() && is_any_far<kDType>(output, i * kChunk, end);
        const bool doubt = far || (looks_for_filling && is_any_unwritten<kDType>(output.actual, i * kChunk, end));
        output.chunks[i] = doubt ? 1 : 0;
      }
    });
  });
}

bool is_in_doubt(const Output& output, const std::vector<ElementRun>& runs) {
  return std::ranges::any_of(runs, [&](const ElementRun& run) {
    const auto first = output.chunks.begin() + run.offset / static_cast<std::int64_t>(kChunk);
    const auto last = output.chunks.begin() +
                      (run.offset + std::max<std::int64_t>(run.count, 1) - 1) / static_cast<std::int64_t>(kChunk);
    return run.count > 0 && std::any_of(first, last + 1, [](char doubt) { return doubt != 0; });
  });
}

double unwritten_doubt(const Output& output, const std::vector<ElementRun>& runs) {
  const DType dtype = output.tensor->dtype;
  double found = 0;
  for (const ElementRun& run : runs) {
    for (std::int64_t i = run.offset; i < run.offset + run.count; ++i) {
      found += output.actual.is_unwritten(dtype, i) ? 1 : 0;
    }
  }
  return found * (output.actual.poison == 0xFF ? kNoValue : 1);
}

// How far the unit is beyond its bounds; at most 1: within.
double distance(const Output& output, const std::vector<ElementRun>& runs) {
  std::vector<double> witness = gathered(*output.tensor, output.witness, runs);
  std::vector<double> middle = gathered(*output.tensor, output.actual.bytes, runs);
  for (std::size_t i = 0; i < witness.size(); ++i) {
    if (!std::isfinite(witness[i]) && is_same(middle[i], witness[i])) {
      middle[i] = witness[i] = 0;
    }
  }
  std::vector<double> scales = error_scales(output.tolerance, witness);  // the magnitudes
  for (std::size_t i = 0; i < witness.size(); ++i) {
    middle[i] = witness[i] + (middle[i] - witness[i]) / 2;
    scales[i] = std::max(output.typical.relative * scales[i], output.typical.smallest);
  }
  const Closeness close = closeness(output.tolerance, witness, scales, middle);
  return std::max(close.element, close.rms);
}

std::vector<Output> outputs_in_doubt(const Family& family, const Axes& axes, const TypicalErrors& typical,
                                     const OutputViews& outputs, const OutputViews* witness, int threads) {
  std::vector<Output> doubtful;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output) {
      continue;
    }
    Output output{
        .tensor = &tensor, .tolerance = family.tolerance(tensor.name, axes), .actual = outputs.at(tensor.name)};
    const auto known = typical.find(tensor.name);
    output.typical = known == typical.end() ? TypicalError() : known->second;
    if (witness != nullptr && !tensor.random) {  // what another call drew says nothing
      output.witness = witness->at(tensor.name).bytes;
    }
    find_chunks(output, threads);
    if (std::ranges::any_of(output.chunks, [](char doubt) { return doubt != 0; })) {
      doubtful.push_back(std::move(output));
    }
  }
  return doubtful;
}

// Calls work(unit) for all units, many of them in a row; few units are large ones.
template <class Work>
void for_all_units(std::int64_t units, int threads, Work work) {
  constexpr std::int64_t kTasksOfThread = 8;
  const std::int64_t in_a_row =
      std::clamp<std::int64_t>(units / (kTasksOfThread * std::max(threads, 1)), 1, kUnitsOfTask);
  for_each_index(static_cast<std::size_t>((units + in_a_row - 1) / in_a_row), threads, [&](std::size_t task) {
    const std::int64_t begin = static_cast<std::int64_t>(task) * in_a_row;
    for (std::int64_t unit = begin; unit < std::min(units, begin + in_a_row); ++unit) {
      work(unit);
    }
  });
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::max();
}

// Of a random output another call drew other elements, of each unit about as many: those of which it drew far more or
// fewer than of the others are in doubt.
void doubt_unlike_units(const Family& family, const Axes& axes, const TensorSpec& tensor, const OutputView& actual,
                        std::span<const std::byte> witness, int threads, std::vector<double>& doubts) {
  constexpr double kFar = 8;  // standard deviations: of right units nearly none, which would be no fair sample of draws

  std::vector<double> excess(doubts.size());  // from -1 to 1
  for_all_units(std::ssize(doubts), threads, [&](std::int64_t unit) {
    const std::vector<ElementRun> runs = family.unit_elements(axes, tensor.name, unit);
    const double own = sum_of_squares(gathered(tensor, actual.bytes, runs));
    const double other = sum_of_squares(gathered(tensor, witness, runs));
    excess[static_cast<std::size_t>(unit)] = own + other > 0 ? own / (own + other) - other / (own + other) : 0;
  });
  std::vector<double> sorted = excess;
  std::ranges::sort(sorted);
  const auto at = [&](double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  };
  const double deviation = std::max((at(0.84) - at(0.16)) / 2, 1e-6);  // of most of them
  for (std::size_t unit = 0; unit < excess.size(); ++unit) {
    const double far = std::fabs(excess[unit] - at(0.5)) / deviation;
    doubts[unit] = far > kFar ? std::max(doubts[unit], far) : doubts[unit];
  }
}

}  // namespace

std::vector<DoubtfulUnit> doubtful_units(const Family& family, const Axes& axes, const TypicalErrors& typical,
                                         const OutputViews& outputs, const OutputViews* witness, int threads) {
  const std::vector<Output> in_doubt = outputs_in_doubt(family, axes, typical, outputs, witness, threads);
  const bool is_random = witness != nullptr && family.alternatives;
  std::vector<DoubtfulUnit> found;
  if (in_doubt.empty() && !is_random) {
    return found;
  }
  std::vector<double> doubts(static_cast<std::size_t>(family.unit_count(axes)));
  for_all_units(std::ssize(doubts), threads, [&](std::int64_t unit) {
    for (const Output& output : in_doubt) {
      const std::vector<ElementRun> runs = family.unit_elements(axes, output.tensor->name, unit);
      if (is_in_doubt(output, runs)) {
        const bool alone = output.witness.empty();
        const double far = alone ? 0 : distance(output, runs);
        const double unwritten = alone || is_filling_no_value(output) ? unwritten_doubt(output, runs) : 0;
        double& doubt = doubts[static_cast<std::size_t>(unit)];
        doubt = std::max({doubt, far > 1 ? far : 0, unwritten});
      }
    }
  });
  constexpr std::int64_t kFewest = 256;  // elements of a unit, that show whether it is unlike the others
  const bool has_large_units = element_count(family, axes) / std::ssize(doubts) >= kFewest;
  for (const TensorSpec& tensor : family.tensors) {
    if (is_random && has_large_units && tensor.role == Role::output && tensor.random) {
      doubt_unlike_units(family, axes, tensor, outputs.at(tensor.name), witness->at(tensor.name).bytes, threads,
                         doubts);
    }
  }
  for (std::size_t unit = 0; unit < doubts.size(); ++unit) {
    if (doubts[unit] > 0) {
      found.push_back({.unit = static_cast<std::int64_t>(unit), .doubt = doubts[unit]});
    }
  }
  std::ranges::sort(found, [](const DoubtfulUnit& a, const DoubtfulUnit& b) {
    return a.doubt != b.doubt ? a.doubt > b.doubt : a.unit < b.unit;
  });
  return found;
}

}  // namespace apo
