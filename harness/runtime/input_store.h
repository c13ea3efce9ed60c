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

// What a stream of candidates draws for itself fills a shelf of its own, and pushes out nothing that they share.
class InputStore {
 public:
  InputStore();
  // At most so many bytes of each kind, but for the newest.
  InputStore(std::size_t most_of_large, std::size_t most_of_small)
      : large_{.most = most_of_large}, small_{.most = most_of_small} {}
  // Made on the first request. `regime` is one of the family's. May be called from several threads.
  CheckedPointer get(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                     int threads);

 private:
  struct Entry {
    std::string key;
    std::size_t bytes = 0;
    CheckedPointer checked;
  };
  struct Shelf {
    std::size_t most = 0;  // bytes; the last one is kept in any case
    std::size_t kept = 0;
    std::list<Entry> entries = {};  // the last used one first
    std::map<std::string, std::list<Entry>::iterator, std::less<>> places = {};

    CheckedPointer find(const std::string& key);
    void add(Entry entry);
  };
  std::mutex mutex_;
  Shelf large_;  // of workloads whose inputs are shared
  Shelf small_;
};

}  // namespace apo
