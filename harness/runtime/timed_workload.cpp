// harness/runtime/timed_workload.cpp - draws the pool of inputs in parallel.
#include "harness/runtime/timed_workload.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/runtime/rearranged_inputs.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {

std::size_t drawn_together(std::int64_t bytes, std::int64_t memory) {
  constexpr std::int64_t kDrawing = 8;  // times a set: bf16 inputs as doubles, and outputs with their noise
  constexpr std::int64_t kPart = 3;     // of the memory, which others use too
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, memory / kPart / std::max<std::int64_t>(1, kDrawing * bytes)));
}

void InputPool::draw(std::size_t count, bool with_expected) const {
  const std::size_t missing = count > size() ? count - size() : 0;
  const std::size_t drawers =
      std::min({missing, static_cast<std::size_t>(std::max(1, runtime_->threads)),
                drawn_together(tensor_bytes(*runtime_->family, workload_->axes), physical_memory_bytes())});
  const int threads = std::max(1, runtime_->threads / static_cast<int>(std::max<std::size_t>(1, drawers)));
  std::atomic<std::size_t> next{size()};
  std::vector<CheckedPointer>& sets = drawn_->sets;
  sets.resize(size() + missing);
  const auto work = [&] {
    for (std::size_t i = next++; i < sets.size(); i = next++) {
      sets[i] = runtime_->inputs->get(*runtime_->family, *workload_, derive_seed(seed_, workload_->name, i),
                                      runtime_->family->regimes.front(), threads,
                                      with_expected || i == 0 ? Purpose::gate : Purpose::look);
      if (with_expected) {
        sets[i]->expected();
      }
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < drawers; ++i) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (std::future<void>& other : others) {
    other.get();
  }
  if (drawn_->typical == nullptr) {  // the first: with all units of a gate, as bounds of all calls come from these
    drawn_->typical = sets.empty() ? nullptr : sets.front();
  }
}

bool InputPool::may_rearrange() const {
  constexpr std::int64_t kMaterial = std::int64_t{8} << 20;  // bytes: enough for any number of sets
  constexpr std::int64_t kMost = 256;
  const Family& family = *runtime_->family;
  if (family.redraw == Redraw::whole) {
    return false;
  }
  const std::int64_t bytes = std::max<std::int64_t>(1, tensor_bytes(family, workload_->axes));
  draw(static_cast<std::size_t>(std::clamp(kMaterial / bytes, std::int64_t{kFewestSets}, kMost)));
  if (!drawn_->move && family.redraw == Redraw::units) {
    drawn_->places.emplace(family, drawn_->sets.front()->inputs.drawn_axes);
    drawn_->move = derived_inputs_move(family, snapshot(), *drawn_->places, runtime_->threads);
  }
  return drawn_->move.value_or(true);
}

DrawnSets InputPool::snapshot() const {
  return std::make_shared<const std::vector<CheckedPointer>>(drawn_->sets);
}

const TypicalErrors& InputPool::typical() const {
  if (only_ != nullptr) {
    return only_->typical();
  }
  draw(1);
  return drawn_->typical->typical();
}

std::vector<CheckedPointer> InputPool::of_round(std::size_t count, std::uint64_t seed) const {
  if (only_ != nullptr) {
    return std::vector<CheckedPointer>(count, only_);
  }
  const Family& family = *runtime_->family;
  const bool rearranges = may_rearrange();
  const auto draw_one = [&](std::uint64_t own, int threads) {
    return std::make_shared<const CheckedInputs>(family, *workload_, own, family.regimes.front(), threads,
                                                 Purpose::look);
  };
  const UnitPlaces* const places = drawn_->places ? &*drawn_->places : nullptr;
  if (rearranges && places != nullptr) {
    drawn_->sets.at(seed % size()) = draw_one(derive_seed(seed, "new"), runtime_->threads);
  }
  const DrawnSets sets = snapshot();
  std::vector<CheckedPointer> inputs(count);
  const int of_each = threads_of_each(runtime_->threads, count);
  for_each_index(count, runtime_->threads, [&](std::size_t i) {
    const std::uint64_t own = derive_seed(seed, workload_->name, i);
    inputs[i] = rearranges ? std::make_shared<const CheckedInputs>(family, rearranged(family, sets, places, own),
                                                                   runtime_->threads, Purpose::look)
                           : draw_one(own, of_each);
  });
  return inputs;
}

std::chrono::milliseconds deadline_of(const Runtime& runtime, const Axes& axes) {
  constexpr std::int64_t kManyElements = std::int64_t{1} << 20;
  constexpr double kOfElement = 10;  // ns
  constexpr double kOfOperation = 2;
  constexpr double kOfSpecialFunction = 20;
  const std::int64_t elements = element_count(*runtime.family, axes);
  if (runtime.worker.target != Target::host || elements < kManyElements) {
    return runtime.worker.deadline;
  }
  const Work counted = runtime.family->work(axes);
  const double ns = kOfElement * static_cast<double>(elements) + kOfOperation * counted.flops +
                    kOfSpecialFunction * counted.special_functions;
  return runtime.worker.deadline + std::chrono::seconds(static_cast<std::int64_t>(1e-9 * ns));
}

InputPool make_pool(const Runtime& runtime, const Workload& workload, std::uint64_t seed) {
  InputPool pool(runtime, workload, seed);
  if (runtime.worker.target == Target::host) {
    return pool;
  }
  // Two for the timed calls, the others for calls on fresh inputs: more where they cost little, since the noise of a
  // single short call is large.
  constexpr std::int64_t kMost = 10;
  constexpr std::int64_t kCheap = std::int64_t{8} << 20;  // bytes of all of them
  const std::int64_t bytes = 1 + tensor_bytes(*runtime.family, workload.axes);
  pool.draw(static_cast<std::size_t>(std::clamp<std::int64_t>(kCheap / bytes, kFewestSets, kMost)), true);
  return pool;
}

CheckedPointer make_other_regime(const Runtime& runtime, const Workload& workload, std::uint64_t shared_seed) {
  const std::size_t regimes = runtime.family->regimes.size();
  if (regimes < 2 || !guard_is_on(Guard::regimes)) {
    return nullptr;
  }
  const std::uint64_t first = derive_seed(shared_seed, workload.name) % (regimes - 1);
  const bool is_of_gate = shares_inputs(*runtime.family, workload.axes);
  for (std::uint64_t i = 0; i + 1 < regimes; ++i) {
    const std::string& regime = runtime.family->regimes[1 + (first + i) % (regimes - 1)];
    try {
      CheckedPointer inputs = runtime.inputs->get(*runtime.family, workload, derive_seed(shared_seed, workload.name, 1),
                                                  regime, runtime.threads, is_of_gate ? Purpose::gate : Purpose::look);
      static_cast<void>(inputs->expected());
      return inputs;
    } catch (const NothingToCompare&) {
      if (!may_leave_out(*runtime.family, regime)) {
        throw;
      }
    }
  }
  return nullptr;
}

}  // namespace apo
