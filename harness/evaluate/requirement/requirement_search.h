// harness/evaluate/requirement/requirement_search.h - looks for a condition over the axes under which a candidate is
// right that is wrong on some sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/evaluate/correctness/covering_shapes.h"
#include "kernels/family.h"

namespace apo {

struct RequirementQuestion {
  const Family& family;
  Axes production;  // sizes that the condition has to allow
  Axes failing;     // on which the candidate is wrong
  ShapeBudget budget;
  std::int64_t most_elements = 0;             // of sizes that differ from those within the budget by long axes
  std::function<bool(const Axes&)> takes;     // whether the candidate takes legal sizes
  std::function<bool(const Axes&)> is_right;  // checks it on them
  std::uint64_t seed = 0;
};

// `condition` is in the language of apo:requires, such as "C % 4 == 0" or "rows * cols <= 1024". On all sizes tried
// where it holds, the candidate is right.
struct Requirement {
  std::string condition;
  int right = 0;            // sizes tried where it holds
  int wrong_elsewhere = 0;  // of those
  int others = 0;           // tried where it does not
};

// Begins with the production sizes, each halved until they are within the budget, and moves the axes of these that make
// the candidate wrong: an axis, else the product of several, has to be a multiple of some number, or to end at one.
// Then shapes are drawn on both sides; one that is wrong where the condition holds adds to it. Where nothing is found
// with 64 sizes tried, relations between two axes are tried on 64 more: "K % N == 0", "H == 4 * G", "P >= V". Returns
// nullopt where none holds, or where the candidate is right on a second try on the same sizes. Axes that a build knows
// keep the values of `production`.
std::optional<Requirement> find_requirement(const RequirementQuestion& question);

}  // namespace apo
