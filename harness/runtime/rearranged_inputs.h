// harness/runtime/rearranged_inputs.h - new inputs out of drawn ones: as good as drawn anew, and nothing is copied
// before a call gets them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/runtime/input_store.h"

namespace apo {

// Where the elements of each unit lie in the inputs, for a family whose units may change places.
class UnitPlaces {
 public:
  UnitPlaces(const Family& family, const Axes& drawn_axes);

  // A run of elements of a unit.
  struct Run {
    std::int64_t offset = 0;
    std::int64_t count = 0;
    std::int64_t unit = 0;
    std::size_t number = 0;  // among those of the unit
  };
  struct Input {
    const TensorSpec* tensor = nullptr;
    // Whether no two units read an element of it: any other input stays where it is, and each unit in its set.
    bool moves = false;
    std::vector<Run> runs = {};  // of all units, in the order of the tensor, where it moves
    std::vector<std::vector<ElementRun>> of_unit = {};
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  std::int64_t units() const { return units_; }
  bool all_move() const;
  // Whether each input has the same run lengths in both units, so that one fits in the place of the other.
  bool are_alike(std::int64_t unit, std::int64_t other) const;

 private:
  std::int64_t units_ = 0;
  std::vector<Input> inputs_;
};

using DrawnSets = std::shared_ptr<const std::vector<CheckedPointer>>;

// Returns inputs that the seed puts together as Family::redraw says, which is `units` or `elements`: parts of the drawn
// sets in another order. All sets are of one workload and regime. `places` are of the sets' axes; null for `elements`.
InputSet rearranged(const Family& family, const DrawnSets& drawn, const UnitPlaces* places, std::uint64_t seed);

// Whether derived inputs move with their units: those of a rearranged set are what the family derives from its inputs.
bool derived_inputs_move(const Family& family, const DrawnSets& drawn, const UnitPlaces& places, int threads);

}  // namespace apo
