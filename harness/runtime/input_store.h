// harness/runtime/input_store.h - input sets with their expected outputs, on the host and in a GPU's memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/runtime/tensor_data.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

inline constexpr const char* kWholeReference = "the reference";

// The outputs of a call that were found right as far as they were looked at, or of the whole reference.
struct Witness {
  std::string of;  // whose call
  TensorBytes kept;
  OutputViews outputs;                  // of what is kept, or where they stand
  std::atomic<bool> confirmed = false;  // by a call of somebody else
  bool is_confirmed() const { return confirmed || of == kWholeReference; }
  Witness(std::string whose, TensorBytes what) : of(std::move(whose)), kept(std::move(what)) {
    outputs.insert(kept.begin(), kept.end());
  }
  Witness(std::string whose, OutputViews where) : of(std::move(whose)), outputs(std::move(where)) {}
};

// What the reference of a set of inputs is needed for, which decides how many units of it are computed where it is
// slow.
enum class Purpose : std::uint8_t {
  gate,  // as many as struct Patience says
  look,  // at a call whose elements are all held against a call of the other arm too: one at least, as many as in 1 s
  scan   // which ranks, and a judge looks again: of large units two, and another one clearly apart from the witness
};

// One set of inputs with the outputs of a correct call. The doubles from which it was made are freed. May be used from
// several threads.
class CheckedInputs {
 public:
  CheckedInputs(const Family& family, const Workload& workload, std::uint64_t seed, const std::string& regime,
                int threads, Purpose purpose = Purpose::gate);
  CheckedInputs(const Family& family, InputSet given, int threads, Purpose purpose = Purpose::gate);
  InputSet inputs;
  const Purpose purpose;
  // Of the drawn units. Computed when it is asked for first.
  const Expected& expected() const;
  const TypicalErrors& typical() const;
  // Makes the whole reference the witness where that takes a second or two. Not for timed calls: they have one in the
  // other arm's.
  void compute_whole() const;
  // Of these units (ascending) and of those that were asked for earlier.
  std::shared_ptr<const Expected> expected_of(const std::vector<std::int64_t>& units) const;

  // What all elements of other calls on these inputs are held against; null: nothing yet.
  std::shared_ptr<Witness> witness() const;
  void set_witness(std::shared_ptr<Witness> witness) const;

 private:
  const Family& family_;
  int threads_;
  mutable std::once_flag once_;
  mutable Expected expected_;
  mutable std::once_flag whole_once_;
  mutable std::once_flag typical_once_;
  mutable TypicalErrors typical_;
  mutable std::mutex mutex_;  // of the next one
  mutable std::shared_ptr<Witness> witness_;
  mutable std::mutex deciding_;  // of the next one
  mutable std::shared_ptr<const Expected> decided_;
};
using CheckedPointer = std::shared_ptr<const CheckedInputs>;

// The number of units (sequences) that a check of one workload compares at most: 32, of large ones fewer, so that they
// have 2^21 elements together, and 8 at least, or 2 in a scan.
std::int64_t most_checked_units(const Family& family, const Axes& axes, Purpose purpose = Purpose::gate);
// The units whose outputs a check compares, drawn by the seed of the inputs, ascending.
std::vector<std::int64_t> checked_units(const Family& family, const Axes& axes, std::uint64_t seed,
                                        Purpose purpose = Purpose::gate);

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
                     int threads, Purpose purpose = Purpose::gate);

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

// Uploads each set once, in a process that never loads a candidate and shares its memory with those that do: they copy
// the inputs from there to their own memory, and compare them with it afterwards, a hundred times as fast as over the
// bus. No kernel of a candidate runs while its process has that memory open.
class DeviceInputs {
 public:
  // Keeps the sets as long as this lives, or until others need their place: an eighth of the GPU's memory. Does nothing
  // where the GPU cannot share memory between processes or has no room. The calling thread has to outlive the use.
  void keep(const Family& family, const WorkerOptions& gpu, const std::vector<CheckedPointer>& sets, int threads);
  // Returns where they are; with an empty handle, nowhere.
  KeptInputs find(const CheckedInputs& inputs) const;
  // Throws EnvironmentError when the process that keeps them has ended.
  void require_process() const;

 private:
  struct Kept {
    std::weak_ptr<const CheckedInputs> checked;  // its address is the key
    KeptInputs where;
  };
  bool is_kept(const CheckedInputs& inputs) const;
  bool start(const WorkerOptions& gpu);
  bool add(const Family& family, const CheckedPointer& checked, int threads);

  mutable std::mutex mutex_;
  std::unique_ptr<Worker> process_;
  std::int64_t bytes_ = 0;
  std::map<const CheckedInputs*, Kept> kept_;
  MemoryFile file_;  // that takes each set on its way
};

}  // namespace apo
