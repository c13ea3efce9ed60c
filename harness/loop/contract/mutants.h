// harness/loop/contract/mutants.h - planted mistakes: outputs that a family's tolerance has to refuse.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/correctness/compare.h"
#include "harness/families/oracle_program.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/family.h"

namespace apo {

// The material of mutants: an honest call, and one with other inputs.
struct MutantSource {
  const Family& family;
  const InputSet& inputs;
  const Expected& expected;
  TensorMap honest;
  TensorMap of_other_inputs;                        // the same outputs for other inputs
  std::map<oracle::Mode, TensorMap> mistaken = {};  // by mistakes in the arithmetic; none of another language's program
  int threads = 1;
};

struct Mutant {
  const char* name;
  const char* meaning;
  // A mild one may hide in the rounding of a 16-bit output; any other has to be refused.
  bool mild = false;
  // Whether another call may draw such an output, where it is random: then it is no mistake.
  bool may_be_drawn = false;
  bool of_random = false;  // only of outputs that are
  // The outputs with the mistake in one tensor; nullopt where it makes no sense: no row, no second unit, no NaN.
  std::optional<TensorMap> (*make)(const MutantSource& source, const TensorSpec& tensor) = nullptr;
};

const std::vector<Mutant>& mutants();
const Mutant& mutant_named(const std::string& name);

// Returns the outputs of a mutant as the bytes of their dtypes, or nullopt where it makes no sense for this tensor.
std::optional<TensorBytes> planted(const Mutant& mutant, const MutantSource& source, const std::string& tensor);

// Returns the outputs as the bytes of their dtypes.
TensorBytes stored(const Family& family, const TensorMap& outputs, int threads);
Comparison held_against(const Family& family, const InputSet& inputs, const Expected& expected,
                        const TensorBytes& outputs, int threads);

}  // namespace apo
