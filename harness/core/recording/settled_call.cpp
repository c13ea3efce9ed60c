// harness/core/recording/settled_call.cpp - two calls of the same function on other inputs: what of them is the same.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/base64.h"
#include "harness/core/recording/recorded_call.h"

namespace apo {
namespace {

// Memory of one call is that of the other where it is met: of the same size, and each once.
class Pairs {
 public:
  Pairs(const RecordedCall& call, const RecordedCall& before) : call_(call), before_(before) {}

  bool are_one(const RecordedPlace& a, const RecordedPlace& b) {
    if (a.argument != b.argument || a.offset != b.offset || a.in_map != b.in_map || (a.memory < 0) != (b.memory < 0)) {
      return false;
    }
    if (a.memory < 0) {
      return true;
    }
    const RecordedMemory& here = call_.memory.at(static_cast<std::size_t>(a.memory));
    const RecordedMemory& there = before_.memory.at(static_cast<std::size_t>(b.memory));
    if (here.bytes != there.bytes || here.is_scratch != there.is_scratch) {
      return false;
    }
    const auto to = to_.find(a.memory);
    const auto from = from_.find(b.memory);
    if (to == to_.end() && from == from_.end()) {
      to_[a.memory] = b.memory;
      from_[b.memory] = a.memory;
      return true;
    }
    return to != to_.end() && to->second == b.memory;
  }

 private:
  const RecordedCall& call_;
  const RecordedCall& before_;
  std::map<int, int> to_;
  std::map<int, int> from_;
};

const RecordedPlace* place_at(const RecordedKernel& kernel, int parameter) {
  const auto found = std::ranges::find(kernel.places, parameter, &RecordedPlace::parameter);
  return found == kernel.places.end() ? nullptr : &*found;
}

bool launch_alike(RecordedKernel a, RecordedKernel b) {
  for (RecordedKernel* const each : {&a, &b}) {
    each->parameters.clear();
    each->places.clear();
  }
  return a == b;
}

// Returns how many bytes of the parameters differ, nullopt where those are not of one kind.
std::optional<std::int64_t> settle(RecordedKernel& kernel, const RecordedKernel& before, Pairs& pairs) {
  auto bytes = bytes_of_base64(kernel.parameters);
  const auto other = bytes_of_base64(before.parameters);
  if (!bytes || !other || bytes->size() != other->size()) {
    return std::nullopt;
  }
  std::vector<char> differs(bytes->size());
  std::ranges::transform(*bytes, *other, differs.begin(), [](char a, char b) { return static_cast<char>(a != b); });
  const auto compare = [&](const RecordedPlace& place) {
    const RecordedPlace* const here = place_at(kernel, place.parameter);
    const RecordedPlace* const there = place_at(before, place.parameter);
    const bool is_one = here != nullptr && there != nullptr && pairs.are_one(*here, *there);
    if (!is_one && !place.in_map) {
      std::fill_n(differs.begin() + place.parameter, sizeof(std::uint64_t), 1);
    }
    return is_one || !place.in_map;
  };
  if (!std::ranges::all_of(kernel.places, compare) || !std::ranges::all_of(before.places, compare)) {
    return std::nullopt;
  }
  std::erase_if(kernel.places, [&](const RecordedPlace& place) {
    return !place.in_map && differs.at(static_cast<std::size_t>(place.parameter)) != 0;
  });
  for (std::size_t i = 0; i < bytes->size(); ++i) {
    (*bytes)[i] = differs[i] != 0 ? static_cast<char>(~(*bytes)[i]) : (*bytes)[i];
  }
  kernel.parameters = base64(*bytes);
  return std::ranges::count(differs, 1);
}

// Memory that only a stale address named.
void drop_unused_memory(RecordedCall& call) {
  std::map<int, int> numbers;
  for (RecordedOperation& operation : call.operations) {
    visit_places(operation, [&](RecordedPlace& place) { numbers.emplace(place.memory, -1); });
  }
  std::vector<RecordedMemory> kept;
  for (auto& [old, number] : numbers) {
    if (old >= 0) {
      number = static_cast<int>(kept.size());
      kept.push_back(std::move(call.memory.at(static_cast<std::size_t>(old))));
    }
  }
  for (RecordedOperation& operation : call.operations) {
    visit_places(operation, [&](RecordedPlace& place) { place.memory = numbers.at(place.memory); });
  }
  call.memory = std::move(kept);
}

}  // namespace

std::string settle(RecordedCall& call, const RecordedCall& before) {
  const auto images = [](const RecordedModule& x, const RecordedModule& y) { return x.image == y.image; };
  if (call.operations.size() != before.operations.size()) {
    return fmt::format("{} operations in place of {}", call.operations.size(), before.operations.size());
  }
  Pairs pairs(call, before);
  for (std::size_t i = 0; i < call.operations.size(); ++i) {
    RecordedOperation& here = call.operations[i];
    const RecordedOperation& there = before.operations[i];
    if (name_of(here) != name_of(there)) {
      return fmt::format("operation {} is {} in place of {}", i + 1, name_of(here), name_of(there));
    }
    if (here.kernel ? !launch_alike(*here.kernel, *there.kernel)
                    : here.bytes != there.bytes || here.value != there.value || here.width != there.width) {
      return fmt::format("operation {}, {}, has another size", i + 1, name_of(here));
    }
    if (here.from_host != there.from_host) {
      return fmt::format("operation {} copies other bytes from the host: the host computes what it copies", i + 1);
    }
    const auto differing = here.kernel ? settle(*here.kernel, *there.kernel, pairs) : 0;
    if (!differing || (!here.kernel &&
                       (!pairs.are_one(here.to, there.to) || (here.from && !pairs.are_one(*here.from, *there.from))))) {
      return fmt::format("operation {}, {}, works on other memory", i + 1, name_of(here));
    }
    call.unsettled += *differing;
  }
  if (!std::ranges::equal(call.modules, before.modules, images)) {
    return "its kernels are of other modules";
  }
  drop_unused_memory(call);
  return "";
}

std::string Settling::add(RecordedCall& call) {
  RecordedCall compared{.operations = call.operations, .modules = call.modules};
  for (const RecordedMemory& memory : call.memory) {  // without what it held: gigabytes, perhaps
    compared.memory.push_back({.bytes = memory.bytes, .is_scratch = memory.is_scratch});
  }
  const std::optional<RecordedCall> last = std::exchange(before_, std::move(compared));
  std::string change = last ? settle(call, *last) : "it was called once";
  const bool differs = change.empty() && call.unsettled > 0;
  if (!std::exchange(differed_, differs) && differs) {
    change = fmt::format("{} bytes of its kernels' parameters differ", call.unsettled);
  }
  return change.empty() ? "" : fmt::format("{}no two of its calls launch the same ({})", kNotRecorded, change);
}

}  // namespace apo
