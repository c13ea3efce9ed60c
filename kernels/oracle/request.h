// kernels/oracle/request.h - what a family's program is asked to compute, in memory that it shares with its caller.
//
// The file holds a Header, the words, and then the tensors: those that are given as they are stored, the outputs as
// doubles. The program fills the outputs and the Answer. Only what the asked units have lies in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dtype.h"

namespace apo::oracle {

enum class Mode : std::int64_t {
  reference,
  honest,
  noise,
  expected,  // the reference and then the noise: an output has an array for each, one behind the other
  draws,     // the draw that decides each element, and the probability of alternative `chosen` of it, likewise
  count,
  fill,
  derive,
  bf16_sums,  // these three only in a program that is built for mutants
  dropped_term,
  wrong_sign
};
enum class Status : std::int64_t { unfinished, done, unwritten, not_finite, threw, several_draws };

inline constexpr const char* kHonest = "reference in the contract's own precision";
// Modes whose outputs have a second array behind the first.
inline bool has_two_arrays(Mode mode) {
  return mode == Mode::expected || mode == Mode::draws;
}

inline constexpr std::int64_t kManyUnits = 8;  // as many as there are of large ones
inline constexpr double kOfManySeconds = 3;    // with so many, after this time no other is begun
inline constexpr std::size_t kMessageBytes = 512;
inline constexpr std::size_t kMostSpecials = 32;

struct SpecialCount {
  char name[16] = {};
  double count = 0;
};

struct Answer {
  Status status = Status::unfinished;
  std::int64_t tensor = 0;   // unwritten, not_finite: which output, counted over all tensors
  std::int64_t element = 0;  // in the whole tensor
  double value = 0;
  char message[kMessageBytes] = {};
  double flops = 0;
  double special_chain = 0;
  std::int64_t alternatives = 0;  // that a drawn() has at most; 0: nothing is drawn
  std::int64_t with_noise = 0;    // expected: how many of those units are there, from the first on
  std::int64_t runs = 0;          // of the reference that have ended, over any number type
  std::int64_t numbers = 0;       // read of stored tensors, each as often as it was converted
  SpecialCount specials[kMostSpecials] = {};
};

struct Header {
  Mode mode = Mode::reference;
  std::int64_t bytes = 0;  // of the whole file
  std::int64_t words = 0;  // how many follow
  std::int64_t threads = 1;
  std::int64_t samples = 0;
  double enough_s = 0;  // expected: after so long no other units are begun than the fewest; 0: all are
  std::int64_t fewest_units = 0;
  std::int64_t is_whole = 0;  // expected: the reference of units that are left out is computed too
  std::uint64_t seed = 0;
  std::int64_t chosen = 0;             // the alternative that all draws take, of fewer the last; -1: by chance
  std::int64_t allows_not_finite = 0;  // NaN and infinities are values of the outputs
  char alone[16] = {};                 // noise: of this operation alone, "pow"; "": of all, and of the honest version
  Answer answer;
};

struct TensorShape {
  bool is_output = false;  // of this mode
  bool is_integer = false;
  DType stored = DType::f64;  // what the file holds of it
  std::int64_t offset = 0;    // in the file, in bytes
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> axis;    // of each extent: the axis that it is, or -1
  std::vector<std::int64_t> beyond;  // of each extent: entries behind those of a part, 1 where a row's pointers end
  std::int64_t group = -1;           // an output: of the units that have it; -1: all of them
  std::int64_t before = -1;  // an output that the function changes: the tensor that it holds before; -1: unwritten
  std::int64_t elements() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) {
      count *= extent;
    }
    return count;
  }
};

// One axis along which the work falls into independent parts of `block` entries.
struct UnitAxis {
  std::int64_t axis = 0;
  std::int64_t block = 1;
  std::int64_t group = 0;
};

struct Contract {
  std::vector<std::int64_t> axes;
  std::vector<double> scalars;
  std::vector<TensorShape> tensors;
  std::int64_t groups = 1;          // of units, one after the other: each splits the work for outputs of its own
  std::vector<UnitAxis> unit_axes;  // of each group the first is the outermost; none: one unit
  std::vector<std::int64_t> units;  // to compute
  std::vector<std::int64_t>
      with_noise;  // expected: others, whose noise is asked for too, the most important ones first
};

// One pass over the words in both directions: `visit` reads or writes each of them in the same order.
template <class Visit>
void visit_words(Contract& contract, Visit visit) {
  const auto visit_list = [&](auto& list, auto each) {
    auto size = static_cast<std::int64_t>(list.size());
    visit(size);
    list.resize(static_cast<std::size_t>(size));
    for (auto& item : list) {
      each(item);
    }
  };
  const auto word = [&](auto& value) { visit(value); };
  visit_list(contract.axes, word);
  visit_list(contract.scalars, word);
  visit_list(contract.tensors, [&](TensorShape& tensor) {
    visit(tensor.is_output);
    visit(tensor.is_integer);
    visit(tensor.stored);
    visit(tensor.offset);
    visit_list(tensor.extents, word);
    visit_list(tensor.axis, word);
    visit_list(tensor.beyond, word);
    visit(tensor.group);
    visit(tensor.before);
  });
  visit(contract.groups);
  visit_list(contract.unit_axes, [&](UnitAxis& axis) {
    visit(axis.axis);
    visit(axis.block);
    visit(axis.group);
  });
  visit_list(contract.units, word);
  visit_list(contract.with_noise, word);
}

// Where a unit lies: of each axis the first entry and how many.
struct Part {
  std::int64_t group = 0;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> count;
};

inline std::int64_t blocks(const Contract& contract, const UnitAxis& unit) {
  return (contract.axes[static_cast<std::size_t>(unit.axis)] + unit.block - 1) / unit.block;
}

inline std::int64_t unit_count_of(const Contract& contract, std::int64_t group) {
  std::int64_t count = 1;
  for (const UnitAxis& unit : contract.unit_axes) {
    count *= unit.group == group ? blocks(contract, unit) : 1;
  }
  return count;
}

inline std::int64_t unit_count(const Contract& contract) {
  std::int64_t count = 0;
  for (std::int64_t group = 0; group < contract.groups; ++group) {
    count += unit_count_of(contract, group);
  }
  return count;
}

// Is the tensor, if it is an output, one of those that the part is computed for?
inline bool belongs(const TensorShape& tensor, const Part& part) {
  return tensor.group < 0 || tensor.group == part.group;
}

inline Part part_of(const Contract& contract, std::int64_t unit) {
  Part part{.group = 0, .first = std::vector<std::int64_t>(contract.axes.size()), .count = contract.axes};
  while (part.group + 1 < contract.groups && unit >= unit_count_of(contract, part.group)) {
    unit -= unit_count_of(contract, part.group++);
  }
  for (std::size_t i = contract.unit_axes.size(); i-- > 0;) {
    const UnitAxis& along = contract.unit_axes[i];
    if (along.group != part.group) {
      continue;
    }
    const auto axis = static_cast<std::size_t>(along.axis);
    const std::int64_t index = unit % blocks(contract, along);
    unit /= blocks(contract, along);
    part.first[axis] = index * along.block;
    part.count[axis] = std::min(along.block, contract.axes[axis] - part.first[axis]);
  }
  return part;
}

// Calls run(offset, count) for the runs of elements of `tensor` that belong to `part`, in row-major order: those within
// the part along each axis that the tensor has.
template <class Run>
void for_each_run(const TensorShape& tensor, const Part& part, Run run) {
  const std::size_t rank = tensor.extents.size();
  std::vector<std::int64_t> first(rank);
  std::vector<std::int64_t> count = tensor.extents;
  for (std::size_t i = 0; i < rank; ++i) {
    if (tensor.axis[i] >= 0) {
      first[i] = part.first[static_cast<std::size_t>(tensor.axis[i])];
      count[i] = part.count[static_cast<std::size_t>(tensor.axis[i])] + tensor.beyond[i];
    }
    if (count[i] == 0) {
      return;  // an empty tensor
    }
  }
  std::size_t inner = rank;  // extents from here on are contiguous
  std::int64_t run_length = 1;
  while (inner > 0 && (inner == rank || count[inner] == tensor.extents[inner])) {
    run_length *= count[--inner];
  }
  std::vector<std::int64_t> index(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(inner));
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      offset = offset * tensor.extents[i] + (i < inner ? index[i] : first[i]);
    }
    run(offset, run_length);
    std::size_t i = inner;
    while (i > 0 && ++index[i - 1] == first[i - 1] + count[i - 1]) {
      index[i - 1] = first[i - 1];
      --i;
    }
    if (i == 0) {
      return;
    }
  }
}

}  // namespace apo::oracle
