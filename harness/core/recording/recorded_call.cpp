// harness/core/recording/recorded_call.cpp - a line of JSON, and behind it the bytes of modules and memory.
#include "harness/core/recording/recorded_call.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/core/base64.h"
#include "harness/core/json/codec.h"

namespace apo {
namespace {

struct StoredVariable {
  std::string name;
  std::int64_t bytes = 0;
};
APO_FIELDS(StoredVariable, name, bytes)

struct StoredModule {
  std::int64_t bytes = 0;
  std::vector<StoredVariable> variables;
};
APO_FIELDS(StoredModule, bytes, variables)

struct StoredMemory {
  std::int64_t bytes = 0;
  bool has_contents = false;
};
APO_FIELDS(StoredMemory, bytes, has_contents)

// The line. What it counts in bytes follows in the same order.
struct Head {
  std::vector<RecordedOperation> operations;
  std::vector<StoredModule> modules;
  std::vector<StoredMemory> memory;
  int streams = 1;
};
APO_FIELDS(Head, operations, modules, memory, streams)

constexpr int kTensorMapBytes = 128;

bool is_there(const RecordedPlace& place, const Head& head) {
  return place.memory < 0 ? place.argument >= 0 && place.offset >= 0
                          : place.argument < 0 && place.memory < std::ssize(head.memory) && place.offset >= 0 &&
                                place.offset <= head.memory.at(static_cast<std::size_t>(place.memory)).bytes;
}

bool is_sound(const RecordedKernel& kernel, const Head& head) {
  const auto parameters = bytes_of_base64(kernel.parameters);
  const auto is_size = [](std::int64_t size) { return size > 0 && size <= std::numeric_limits<std::int32_t>::max(); };
  const auto are_sizes = [&](const std::array<std::int64_t, 3>& sizes) { return std::ranges::all_of(sizes, is_size); };
  return parameters && kernel.module >= 0 && kernel.module < std::ssize(head.modules) && are_sizes(kernel.grid) &&
         are_sizes(kernel.block) && are_sizes(kernel.cluster) && kernel.shared_bytes >= 0 &&
         std::ranges::all_of(kernel.places, [&](const RecordedPlace& place) {
           const std::int64_t bytes = place.in_map ? kTensorMapBytes : static_cast<std::int64_t>(sizeof(std::uint64_t));
           return place.parameter >= 0 && place.parameter + bytes <= std::ssize(*parameters) && is_there(place, head);
         });
}

bool is_sound(const RecordedOperation& operation, const Head& head) {
  if (operation.kernel) {
    return is_sound(*operation.kernel, head);
  }
  return operation.bytes > 0 && is_there(operation.to, head) && (!operation.from || is_there(*operation.from, head)) &&
         (operation.width == 1 || operation.width == 2 || operation.width == 4) &&
         operation.bytes % operation.width == 0;
}

// Takes the next bytes of a text; false when it has fewer.
bool take(std::string_view& rest, std::int64_t bytes, std::string& to) {
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) > rest.size()) {
    return false;
  }
  to = rest.substr(0, static_cast<std::size_t>(bytes));
  rest.remove_prefix(static_cast<std::size_t>(bytes));
  return true;
}

// False where the text is shorter, or longer, than the head says.
bool fill(RecordedCall& call, const Head& head, std::string_view rest) {
  bool whole = true;
  for (const StoredModule& stored : head.modules) {
    RecordedModule& module = call.modules.emplace_back();
    whole = whole && take(rest, stored.bytes, module.image);
    for (const StoredVariable& variable : stored.variables) {
      module.variables.push_back({.name = variable.name, .bytes = ""});
      whole = whole && take(rest, variable.bytes, module.variables.back().bytes);
    }
  }
  for (const StoredMemory& stored : head.memory) {
    RecordedMemory& memory = call.memory.emplace_back();
    memory.bytes = stored.bytes;
    whole = whole && stored.bytes > 0 && (!stored.has_contents || take(rest, stored.bytes, memory.contents));
  }
  return whole && rest.empty();
}

}  // namespace

LaunchPlan plan_of(const RecordedCall& call) {
  LaunchPlan plan{.launches = {}, .recorded = true};
  for (const RecordedOperation& operation : call.operations) {
    if (operation.kernel) {
      plan.launches.push_back({.kernel = operation.kernel->name,
                               .grid = operation.kernel->grid,
                               .block = operation.kernel->block,
                               .cluster = operation.kernel->cluster,
                               .shared_bytes = operation.kernel->shared_bytes,
                               .cooperative = operation.kernel->cooperative});
    }
  }
  plan.keeps_state =
      std::ranges::any_of(call.modules, [](const RecordedModule& module) { return !module.variables.empty(); }) ||
      !call.memory.empty();
  return plan;
}

bool launches_the_same(const RecordedCall& a, const RecordedCall& b) {
  const auto images = [](const RecordedModule& x, const RecordedModule& y) { return x.image == y.image; };
  const auto sizes = [](const RecordedMemory& x, const RecordedMemory& y) { return x.bytes == y.bytes; };
  return a.operations == b.operations && std::ranges::equal(a.modules, b.modules, images) &&
         std::ranges::equal(a.memory, b.memory, sizes);
}

std::string encode(const RecordedCall& call) {
  Head head{.operations = call.operations, .modules = {}, .memory = {}, .streams = call.streams};
  std::string bytes;
  for (const RecordedModule& module : call.modules) {
    head.modules.push_back({.bytes = std::ssize(module.image), .variables = {}});
    bytes += module.image;
    for (const RecordedVariable& variable : module.variables) {
      head.modules.back().variables.push_back({.name = variable.name, .bytes = std::ssize(variable.bytes)});
      bytes += variable.bytes;
    }
  }
  for (const RecordedMemory& memory : call.memory) {
    head.memory.push_back({.bytes = memory.bytes, .has_contents = !memory.contents.empty()});
    bytes += memory.contents;
  }
  return json_text(head) + "\n" + bytes;
}

std::optional<RecordedCall> decode_recorded_call(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  try {
    const auto head = from_json_text<Head>(bytes.substr(0, end));
    RecordedCall call{.operations = head.operations, .modules = {}, .memory = {}, .streams = head.streams};
    const bool is_sound_whole =
        !head.operations.empty() &&
        std::ranges::all_of(head.operations, [&](const RecordedOperation& one) { return is_sound(one, head); }) &&
        fill(call, head, bytes.substr(end + 1));
    return is_sound_whole ? std::optional(std::move(call)) : std::nullopt;
  } catch (const BadField&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

namespace {

struct ProgramHead {
  std::string program;
  std::string refusal;
  std::vector<std::vector<std::array<std::int64_t, 2>>> written;
};
APO_FIELDS(ProgramHead, program, refusal, written)

bool are_in(const std::vector<std::array<std::int64_t, 2>>& stretches, std::int64_t bytes) {
  std::int64_t last = 0;
  return std::ranges::all_of(stretches, [&](const std::array<std::int64_t, 2>& one) {
    const bool is_behind = last <= one[0] && one[0] < one[1] && one[1] <= bytes;
    last = one[1];
    return is_behind;
  });
}

}  // namespace

std::string encode(const ProgramCall& call) {
  return json_text(ProgramHead{.program = call.program, .refusal = call.refusal, .written = call.written}) + "\n" +
         (call.refusal.empty() ? encode(call.call) : "");
}

std::optional<ProgramCall> decode_program_call(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  try {
    const auto head = from_json_text<ProgramHead>(bytes.substr(0, end));
    ProgramCall call{.program = head.program, .refusal = head.refusal, .written = head.written, .call = {}};
    if (!head.refusal.empty()) {
      return call;
    }
    auto decoded = decode_recorded_call(bytes.substr(std::min(end + 1, bytes.size())));
    const bool is_whole = decoded && std::ranges::equal(head.written, decoded->memory,
                                                        [](const auto& stretches, const RecordedMemory& memory) {
                                                          return are_in(stretches, memory.bytes);
                                                        });
    call.call = decoded.value_or(RecordedCall());
    return is_whole ? std::optional(std::move(call)) : std::nullopt;
  } catch (const BadField&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace apo
