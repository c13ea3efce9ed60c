// harness/core/recording/recorded_call.cpp - two lines of JSON, and behind them the bytes of modules and memory.
#include "harness/core/recording/recorded_call.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/core/base64.h"
#include "harness/core/json/codec.h"
#include "harness/core/text.h"

namespace apo {

// In the first line; bytes are behind the second one.
template <RecordOf<RecordedVariable> Variable, class Visitor>
void visit_fields(Variable& variable, const Visitor& visit) {
  visit("name", variable.name);
}
template <RecordOf<RecordedModule> Module, class Visitor>
void visit_fields(Module& module, const Visitor& visit) {
  visit("variables", module.variables);
}
template <RecordOf<RecordedMemory> Memory, class Visitor>
void visit_fields(Memory& memory, const Visitor& visit) {
  visit("bytes", memory.bytes);
  visit("is_scratch", memory.is_scratch);
}
APO_FIELDS(RecordedCall, operations, modules, memory, device, unsearched, unsettled)
template <RecordOf<ProgramCall> Call, class Visitor>
void visit_fields(Call& call, const Visitor& visit) {
  visit("program", call.program);
  visit("refusal", call.refusal);
  visit("written", call.written);
  visit("named", call.named);
}

namespace {

// The second line.
struct Sizes {
  std::vector<std::int64_t> bytes;  // of what follows, in the order of visit_bytes()
};
APO_FIELDS(Sizes, bytes)

template <class Call, class Visitor>
void visit_bytes(Call& call, const Visitor& visit) {
  for (auto& module : call.modules) {
    visit(module.image);
    for (auto& variable : module.variables) {
      visit(variable.bytes);
    }
  }
  for (auto& memory : call.memory) {
    visit(memory.contents);
  }
  for (auto& operation : call.operations) {
    if (!operation.kernel) {
      visit(operation.from_host);
    }
  }
}

constexpr int kTensorMapBytes = 128;
constexpr std::int64_t kMostParameterBytes = 32 << 10;
constexpr std::size_t kLongestName = 63;  // of memory that a program named

bool is_in(std::int64_t offset, std::int64_t bytes, std::int64_t size) {
  return offset >= 0 && bytes >= 0 && bytes <= size && offset <= size - bytes;
}

// Into exactly one of the two; of tensors, fits_tensors() says whether they are there.
bool is_there(const RecordedPlace& place, std::int64_t bytes, const RecordedCall& call) {
  return place.memory < 0 ? place.argument >= 0 && place.offset >= 0
                          : place.argument < 0 && place.memory < std::ssize(call.memory) &&
                                is_in(place.offset, bytes, call.memory[static_cast<std::size_t>(place.memory)].bytes);
}

// As a compiler names symbols: such a name is also part of files that are made of a record.
bool is_symbol(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           std::string_view("_$.").find(letter) != std::string_view::npos;
  });
}

bool is_sound(const RecordedKernel& kernel, const RecordedCall& call) {
  const auto parameters = bytes_of_base64(kernel.parameters);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto are_sizes = [&](const std::array<std::int64_t, 3>& sizes) {
    return std::ranges::all_of(sizes, [&](std::int64_t size) { return size > 0 && size <= kMost; });
  };
  return parameters && std::ssize(*parameters) <= kMostParameterBytes && is_symbol(kernel.name) && kernel.module >= 0 &&
         kernel.module < std::ssize(call.modules) && are_sizes(kernel.grid) && are_sizes(kernel.block) &&
         are_sizes(kernel.cluster) && is_in(0, kernel.shared_bytes, kMost) &&
         is_in(0, kernel.most_shared_bytes, kMost) && kernel.carveout >= -1 && kernel.carveout <= 100 &&
         std::ranges::all_of(kernel.places, [&](const RecordedPlace& place) {
           const std::int64_t bytes = place.in_map ? kTensorMapBytes : static_cast<std::int64_t>(sizeof(std::uint64_t));
           return is_in(place.parameter, bytes, std::ssize(*parameters)) && is_there(place, 0, call);
         });
}

bool is_sound(const RecordedOperation& operation, const RecordedCall& call) {
  if (operation.kernel) {
    return is_sound(*operation.kernel, call);
  }
  const auto is_whole = [&](const RecordedPlace& place) {
    return place.parameter == 0 && !place.in_map && is_there(place, operation.bytes, call);
  };
  const bool is_from_host = !operation.from_host.empty();
  return operation.bytes > 0 && is_whole(operation.to) && (!operation.from || is_whole(*operation.from)) &&
         (!is_from_host || (!operation.from && std::ssize(operation.from_host) == operation.bytes)) &&
         (operation.width == 1 || operation.width == 2 || operation.width == 4) &&
         operation.bytes % operation.width == 0;
}

// Takes the next bytes of a text; false when it has fewer.
bool take(std::string_view& rest, std::int64_t size, std::string& to) {
  if (size < 0 || size > std::ssize(rest)) {
    return false;
  }
  to = rest.substr(0, static_cast<std::size_t>(size));
  rest.remove_prefix(static_cast<std::size_t>(size));
  return true;
}

// Takes what follows the lines; false where it is shorter, or longer, than they say.
bool take_bytes(RecordedCall& call, const std::vector<std::int64_t>& sizes, std::string_view rest) {
  auto size = sizes.begin();
  bool is_whole = true;
  visit_bytes(call,
              [&](std::string& bytes) { is_whole = is_whole && size != sizes.end() && take(rest, *size++, bytes); });
  return is_whole && size == sizes.end() && rest.empty();
}

bool is_sound(const RecordedCall& call) {
  std::int64_t left = kMostRecordedMemory;
  std::int64_t from_host = 0;
  return !call.operations.empty() && std::ranges::all_of(call.memory, [&](const RecordedMemory& one) {
    const bool is_room = one.bytes > 0 && one.bytes <= left;
    left -= is_room ? one.bytes : 0;
    return is_room && (one.contents.empty() || (std::ssize(one.contents) == one.bytes && !one.is_scratch));
  }) && std::ranges::all_of(call.operations, [&](const RecordedOperation& one) {
    from_host += std::ssize(one.from_host);
    return is_sound(one, call) && from_host <= kMostFromHost;
  });
}

// nullopt where the first line of the text is none of json_text(); removes it.
template <class Record>
std::optional<Record> take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  try {
    auto record = from_json_text<Record>(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return record;
  } catch (const BadField&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_symbol_of(std::string_view symbol, const std::string& name) {
  return !name.empty() &&
         (symbol == name ||
          (symbol.starts_with("_Z") && symbol.find(std::to_string(name.size()) + name) != std::string_view::npos));
}

std::string name_of(const RecordedOperation& operation) {
  return operation.kernel               ? operation.kernel->name
         : !operation.from_host.empty() ? "a copy from the host"
         : operation.from               ? "a copy"
                                        : "a fill";
}

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

bool fits_tensors(const RecordedOperation& operation, const std::vector<std::int64_t>& bytes) {
  const auto is_within = [&](const RecordedPlace& place) {
    return place.memory >= 0 || (place.argument < std::ssize(bytes) &&
                                 is_in(place.offset, operation.bytes, bytes[static_cast<std::size_t>(place.argument)]));
  };
  return operation.kernel ? std::ranges::all_of(operation.kernel->places, is_within)
                          : is_within(operation.to) && (!operation.from || is_within(*operation.from));
}

bool give_results(RecordedCall& call, const std::vector<std::uint64_t>& at,
                  const std::vector<ReturnedMemory>& results) {
  std::set<int> given;
  std::map<int, int> kept;  // old and new numbers
  const auto give = [&](RecordedPlace& place) {
    if (place.memory < 0) {
      return;
    }
    const auto index = static_cast<std::size_t>(place.memory);
    const std::uint64_t start = at.at(index);
    const std::uint64_t end = start + static_cast<std::uint64_t>(call.memory.at(index).bytes);
    const std::uint64_t address = start + static_cast<std::uint64_t>(place.offset);
    const auto found = [&](bool at_end) {  // the end of one may be the begin of the next
      return std::ranges::find_if(results, [&](const ReturnedMemory& one) {
        return one.at >= start && one.at < end && address >= one.at &&
               (at_end ? address - one.at == one.bytes : address - one.at < one.bytes);
      });
    };
    auto result = found(false);
    result = result == results.end() ? found(true) : result;
    if (result == results.end()) {
      kept.emplace(place.memory, 0);
      return;
    }
    given.insert(result->argument);
    place.argument = result->argument;
    place.memory = -1;
    place.offset = static_cast<std::int64_t>(address - result->at);
  };
  std::ranges::for_each(call.operations, [&](RecordedOperation& one) { visit_places(one, give); });
  std::vector<RecordedMemory> memory;
  for (auto& [old, number] : kept) {
    number = static_cast<int>(memory.size());
    memory.push_back(std::move(call.memory.at(static_cast<std::size_t>(old))));
  }
  call.memory = std::move(memory);
  for (RecordedOperation& operation : call.operations) {
    visit_places(operation,
                 [&](RecordedPlace& place) { place.memory = place.memory < 0 ? -1 : kept.at(place.memory); });
  }
  return given.size() == results.size();
}

std::string encode(const RecordedCall& call) {
  Sizes sizes;
  std::string bytes;
  visit_bytes(call, [&](const std::string& one) {
    sizes.bytes.push_back(std::ssize(one));
    bytes += one;
  });
  return json_text(call) + "\n" + json_text(sizes) + "\n" + bytes;
}

std::optional<RecordedCall> decode_recorded_call(std::string_view bytes) {
  auto call = take_line<RecordedCall>(bytes);
  const auto sizes = take_line<Sizes>(bytes);
  const bool is_whole = call && sizes && take_bytes(*call, sizes->bytes, bytes) && is_sound(*call);
  return is_whole ? std::move(call) : std::nullopt;
}

namespace {

bool are_in(const std::vector<std::array<std::int64_t, 2>>& stretches, const RecordedMemory& memory) {
  std::int64_t last = 0;
  return std::ranges::all_of(stretches, [&](const std::array<std::int64_t, 2>& one) {
    const bool is_behind = last <= one[0] && one[0] < one[1] && one[1] <= memory.bytes;
    last = one[1];
    return is_behind;
  });
}

// The results of all memory, as long as the stretches are.
bool take_results(ProgramCall& call, std::string_view& rest) {
  return std::ranges::all_of(call.written, [&](const std::vector<std::array<std::int64_t, 2>>& stretches) {
    std::int64_t bytes = 0;
    for (const auto& [begin, end] : stretches) {
      if (begin < 0 || end <= begin || end - begin > std::ssize(rest) - bytes) {
        return false;
      }
      bytes += end - begin;
    }
    return take(rest, bytes, call.results.emplace_back());
  });
}

// A name becomes that of a file, and of an argument in code.
bool is_there(const NamedMemory& named, const RecordedCall& call) {
  return is_identifier(named.name) && named.name.size() <= kLongestName && is_identifier(named.dtype) &&
         named.memory >= 0 && named.memory < std::ssize(call.memory) && named.offset >= 0 && named.elements > 0 &&
         named.offset < call.memory[static_cast<std::size_t>(named.memory)].bytes;
}

}  // namespace

std::string encode(const ProgramCall& call) {
  return json_text(call) + "\n" + (call.refusal.empty() ? join(call.results, "") + encode(call.call) : "");
}

std::optional<ProgramCall> decode_program_call(std::string_view bytes) {
  auto call = take_line<ProgramCall>(bytes);
  if (!call || !call->refusal.empty()) {
    return call;
  }
  auto recorded = take_results(*call, bytes) ? decode_recorded_call(bytes) : std::nullopt;
  const bool is_whole =
      recorded && std::ranges::equal(call->written, recorded->memory, are_in) &&
      std::ranges::all_of(call->named, [&](const NamedMemory& named) { return is_there(named, *recorded); });
  call->call = recorded.value_or(RecordedCall());
  return is_whole ? call : std::nullopt;
}

}  // namespace apo
