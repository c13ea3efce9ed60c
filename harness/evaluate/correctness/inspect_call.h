// harness/evaluate/correctness/inspect_call.h - looks at all memory that a call may have touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/records/outcome.h"
#include "harness/evaluate/correctness/draws.h"
#include "harness/runtime/input_store.h"
#include "harness/runtime/runtime.h"

namespace apo {

// What a call's outputs are, beside right or wrong.
struct CallFindings {
  OutputErrors errors;
  std::string wrong_call_of;   // not this call is wrong but the witness: whose it was
  std::int64_t elements = 0;   // held against the reference or a witness
  std::int64_t undecided = 0;  // units that differ from the witness, beyond those that the reference computed
  CallDraws draws;             // of the drawn units
};

// Checks that guards are whole, inputs of `set` unchanged (none: they have been compared already) and outputs right:
// the drawn units by the reference, all elements by hold_all(). Returns nullopt, or Outcome::incorrect with the first
// finding. `whose`: names the code that was called. Compares tensors on up to `threads` threads.
std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family,
                                    const CheckedInputs& inputs, const std::string& whose, std::optional<int> set,
                                    int threads = 1, CallFindings* findings = nullptr);

// Adds to a failure of inspect_call() where its wrong element was, if it has one. `seed`: of the inputs; 0: secret.
void explain(Failure& failure, const std::string& workload, std::uint64_t seed);

// The slot of the call that was wrong, of two slots; nullopt: it was that of an earlier comparison.
std::optional<int> wrong_slot(const CallFindings& findings, int slot, const std::string& other_slots);

// Holds all elements of a call's outputs against the witness of its inputs; the reference decides the units in doubt,
// of many the 32 furthest apart, for a scan the one that is clearly apart. A right call becomes the witness where there
// is none, and confirms one of another code.
std::optional<Failure> hold_all(const SharedTensors& shared_tensors, const Family& family, const CheckedInputs& inputs,
                                const std::string& whose, const TypicalErrors& typical, int threads,
                                CallFindings& findings);

}  // namespace apo
