// harness/worker/recorder/memory.cpp - what a call works on: its tensors, and memory of its own with what that held.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/core/text.h"
#include "harness/worker/recorder/state.h"

namespace apo::recorder {
namespace {

constexpr std::int64_t kMostSearched = std::int64_t{1} << 30;  // a GiB takes 0.3 s
constexpr std::int64_t kQuestion = 1024;                       // the driver answers one in the time of so many bytes

template <class Value>
bool has_attribute(const State& self, Value& value, int attribute, std::uint64_t address) {
  return self.driver->pointer_attribute(&value, attribute, address) == cuda::kSuccess;
}

bool is_zero(const std::string& bytes) {
  return bytes.find_first_not_of('\0') == std::string::npos;
}

// Where addresses lie in what is at `start`, as far as it is looked at.
std::vector<std::size_t> addresses_in(State& self, const std::string& contents, cuda::Pointer start) {
  constexpr std::uint64_t kReach = std::uint64_t{1} << 40;  // a driver puts all memory of a GPU into one region
  constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
  std::vector<std::size_t> found;
  std::map<std::uint64_t, bool> pages;  // whether a word in it is an address
  std::uint64_t word = 0;
  unsigned type = 0;
  std::size_t at = 0;
  const auto is_address = [&] {
    self.searched += kQuestion;
    return has_attribute(self, type, cuda::kPointerMemoryType, word);
  };
  for (; at + kWord <= contents.size() && self.searched + static_cast<std::int64_t>(at) < kMostSearched; at += kWord) {
    std::memcpy(&word, &contents[at], kWord);
    if (word < kPage || word - start + kReach >= 2 * kReach) {
      continue;
    }
    const auto [page, is_new] = pages.try_emplace(word / kPage, false);
    page->second = page->second || (is_new && is_address());
    if (page->second && is_address()) {
      found.push_back(at);
    }
  }
  self.searched += static_cast<std::int64_t>(at);
  self.call.unsearched += static_cast<std::int64_t>((contents.size() - at) / kWord * kWord);
  return found;
}

std::string address_in(const std::string& where, std::size_t at) {
  return fmt::format("an address lies at byte {} of {}: a replay has other addresses", at, where);
}

void check_room(std::int64_t bytes) {
  if (bytes > kMostRecordedMemory) {
    refuse(fmt::format("it works on more than {} of memory of its own",
                       format_bytes(static_cast<double>(kMostRecordedMemory))));
  }
}

void take_room(State& self, std::int64_t bytes) {
  self.own_bytes += bytes;
  check_room(self.own_bytes);
}

// An address there is stale, as those in tensor maps that a kernel writes anew in each call, or the call follows it. To
// tell these apart it is inverted, in the recording and in the memory itself: a call that follows it fails here.
void take_addresses(State& self, std::string& contents, cuda::Pointer start) {
  const std::vector<std::size_t> found = addresses_in(self, contents, start);
  if (found.empty()) {
    return;
  }
  const std::string why = address_in("the memory that it works on", found.front());
  if (!self.inverts_addresses) {
    refuse(why);
  }
  self.inverted = self.inverted.empty() ? why : self.inverted;
  for (const std::size_t at : found) {
    std::transform(&contents[at], &contents[at] + kWord, &contents[at],
                   [](char byte) { return static_cast<char>(~byte); });
  }
  self.call.unsettled += std::ssize(found) * static_cast<std::int64_t>(kWord);
  need(self, self.driver->copy_to_device(start, contents.data(), contents.size()), "writing what the call works on");
}

// The allocation that begins there. What was allocated since the call began holds nothing yet.
int memory_at(State& self, cuda::Pointer start, std::int64_t bytes) {
  const auto known = std::ranges::find(self.memory, start);
  const auto index = static_cast<std::size_t>(known - self.memory.begin());
  if (known != self.memory.end()) {
    RecordedMemory& memory = self.call.memory[index];
    if (bytes > memory.bytes && !memory.is_scratch) {
      refuse("memory that it works on was freed, and more was allocated in its place");
    }
    take_room(self, memory.is_scratch ? 0 : std::max<std::int64_t>(bytes - memory.bytes, 0));
    memory.bytes = std::max(memory.bytes, bytes);
    return static_cast<int>(index);
  }
  const bool has_tensors = std::ranges::any_of(self.tensors, [&](const CudaRange& tensor) {
    return tensor.at >= start && tensor.at < start + static_cast<cuda::Pointer>(bytes);
  });
  if (has_tensors) {
    refuse("it works on memory between the tensors of the call");
  }
  RecordedMemory memory{.bytes = bytes, .contents = "", .is_scratch = self.fresh.contains(start)};
  take_room(self, memory.is_scratch ? 0 : bytes);  // of scratch, what the call returns is none of its own
  if (!memory.is_scratch) {
    std::string contents = read_memory(self, start, bytes);
    take_addresses(self, contents, start);
    memory.contents = is_zero(contents) ? "" : std::move(contents);
  }
  self.memory.push_back(start);
  self.call.memory.push_back(std::move(memory));
  return static_cast<int>(index);
}

}  // namespace

void check_memory(const State& self) {
  std::int64_t bytes = 0;
  for (const RecordedMemory& memory : self.call.memory) {
    bytes += memory.bytes;
  }
  check_room(bytes);
}

bool is_allocated(const State& self, cuda::Pointer at, std::int64_t bytes) {
  cuda::Pointer start = 0;
  std::size_t size = 0;
  return has_attribute(self, start, cuda::kPointerRangeStart, at) && start == at &&
         has_attribute(self, size, cuda::kPointerRangeSize, at) && size >= static_cast<std::size_t>(bytes);
}

bool is_on_host(const State& self, cuda::Pointer at) {
  unsigned type = cuda::kMemoryOfHost;
  unsigned managed = 0;
  has_attribute(self, type, cuda::kPointerMemoryType, at);  // what a program has of the system is unknown
  has_attribute(self, managed, cuda::kPointerIsManaged, at);
  return type == cuda::kMemoryOfHost && managed == 0;
}

std::string read_memory(const State& self, cuda::Pointer at, std::int64_t bytes) {
  if (!self.captures.empty()) {
    refuse("it works on memory of its own while a stream is captured, and nobody may wait for the GPU then");
  }
  std::string contents(static_cast<std::size_t>(bytes), '\0');
  need(self, self.driver->synchronize_context(), "waiting for the GPU");
  need(self, self.driver->copy_to_host(contents.data(), at, contents.size()), "reading what the call works on");
  return contents;
}

void refuse_addresses(State& self, const std::string& contents, cuda::Pointer start, const std::string& where) {
  if (const std::vector<std::size_t> found = addresses_in(self, contents, start); !found.empty()) {
    refuse(address_in(where, found.front()));
  }
}

std::optional<RecordedPlace> place_of(State& self, std::uint64_t word) {
  unsigned type = 0;
  unsigned managed = 0;
  cuda::Pointer start = 0;
  std::size_t bytes = 0;
  const auto in_tensor = [&](const CudaRange& tensor) { return word >= tensor.at && word - tensor.at < tensor.bytes; };
  auto tensor = std::ranges::find_if(self.tensors, in_tensor);
  if (tensor == self.tensors.end()) {
    const auto ends = [&](const CudaRange& one) { return one.bytes > 0 && word == one.at + one.bytes; };
    tensor = std::ranges::find_if(self.tensors, ends);
    const bool is_begin =
        tensor != self.tensors.end() && has_attribute(self, start, cuda::kPointerRangeStart, word) && start == word;
    tensor = is_begin ? self.tensors.end() : tensor;  // of what lies behind the tensor
  }
  if (tensor != self.tensors.end()) {
    return RecordedPlace{.argument = static_cast<int>(tensor - self.tensors.begin()),
                         .offset = static_cast<std::int64_t>(word - tensor->at)};
  }
  if (!has_attribute(self, type, cuda::kPointerMemoryType, word)) {
    return std::nullopt;
  }
  has_attribute(self, managed, cuda::kPointerIsManaged, word);
  if (type != cuda::kMemoryOfDevice || managed != 0) {
    refuse("it works on memory of the host, or on memory that both share");
  }
  if (!has_attribute(self, start, cuda::kPointerRangeStart, word) ||
      !has_attribute(self, bytes, cuda::kPointerRangeSize, word)) {
    refuse("the driver does not say how long the memory is that it works on");
  }
  return RecordedPlace{.memory = memory_at(self, start, static_cast<std::int64_t>(bytes)),
                       .offset = static_cast<std::int64_t>(word - start)};
}

bool are_seen(RecordedCall& call, const std::vector<std::size_t>& operations) {
  std::set<int> own;
  std::set<int> others;
  bool are_given = false;  // tensors of the call
  for (std::size_t i = 0; i < call.operations.size(); ++i) {
    const bool is_own = std::ranges::find(operations, i) != operations.end();
    std::set<int>& used = is_own ? own : others;
    visit_places(call.operations[i], [&](RecordedPlace& place) {
      are_given = are_given || (is_own && place.memory < 0);
      used.insert(place.memory);
    });
    const auto& kernel = call.operations[i].kernel;
    if (kernel && !call.modules.at(static_cast<std::size_t>(kernel->module)).variables.empty()) {
      used.insert(-2 - kernel->module);
    }
  }
  return are_given || std::ranges::any_of(own, [&](int used) { return others.contains(used); });
}

// The program itself finds what a replay will, so that its results show what is read unwritten; but for memory of a
// CUDA graph: while a stream is captured, nobody may wait for the GPU.
void note_allocation(State& self, cuda::Pointer at, std::int64_t bytes, cuda::Stream stream) {
  unsigned type = 0;
  if (!has_attribute(self, type, cuda::kPointerMemoryType, at) || is_captured(*self.driver, stream)) {
    return;  // there was no room for it, or a graph will allocate it
  }
  if (self.captures.empty()) {
    need(self, self.driver->fill(at, kScratchByte, static_cast<std::size_t>(bytes), stream), "filling new memory");
    need(self, self.driver->synchronize_context(), "filling new memory");
  }
  self.fresh.insert(at);
}

}  // namespace apo::recorder
