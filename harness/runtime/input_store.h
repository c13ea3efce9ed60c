// harness/runtime/input_store.h - keeps input sets with their expected outputs for the comparisons that share them.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/runtime/tensor_data.h"

namespace apo {

// One set of inputs with the outputs of a correct call. The doubles from which it was made are freed.
class CheckedInputs {
 public:
  CheckedInputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                int threads);
  InputSet inputs;
  // Computed when it is asked for first. May be called from several threads.
  const Expected& expected() const;

 private:
  const Family& family_;
  int threads_;
  mutable std::once_flag once_;
  mutable Expected expected_;
};
using CheckedPointer = std::shared_ptr<const CheckedInputs>;

// The number of units (sequences) that a check of one workload compares at most: 32, of large ones fewer, so that they
// have 2^21 elements together, and 8 at least.
std::int64_t most_checked_units(const Family& family, const Axes& axes);
// The units whose outputs a check compares, drawn by the seed of the inputs, ascending.
std::vector<std::int64_t> checked_units(const Family& family, const Axes& axes, std::uint64_t seed);

// Drawing the inputs of a large workload takes far longer than judging on it, so experiments share them.
bool shares_inputs(const Family& family, const Axes& axes);
// The origin of the seed of an experiment's inputs: the experiment, or the group that shares them.
std::uint64_t inputs_group(const Family& family, const Axes& axes, std::int64_t experiment);

class InputStore {
 public:
  // Made on the first request. `regime` is one of the family's. May be called from several threads.
  CheckedPointer get(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                     int threads);

 private:
  struct Entry {
    std::string key;
    std::size_t bytes = 0;
    CheckedPointer checked;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used one first
  std::map<std::string, std::list<Entry>::iterator, std::less<>> places_;
  std::size_t kept_ = 0;  // bytes
};

}  // namespace apo
