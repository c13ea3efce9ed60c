// harness/worker/recorder/program_calls.cpp - the call of a program that is waited for: a launch, or an NVTX range with
// its marks.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <utility>

#include "harness/worker/recorder/call_recorder.h"
#include "harness/worker/recorder/state.h"

namespace apo {
namespace recorder {
namespace {

thread_local int range_depth = 0;  // of this thread in the wanted range; 0: not in it

// Stretches of bytes that differ. Those that lie close together are one.
std::vector<std::array<std::int64_t, 2>> changed(const RecordedMemory& before, const std::string& after) {
  constexpr std::int64_t kClose = 256;
  const char unwritten = before.is_scratch ? static_cast<char>(kScratchByte) : '\0';
  std::vector<std::array<std::int64_t, 2>> stretches;
  for (std::int64_t i = 0; i < before.bytes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (after[at] == (before.contents.empty() ? unwritten : before.contents[at])) {
      continue;
    }
    if (stretches.empty() || i > stretches.back()[1] + kClose) {
      stretches.push_back({i, i});
    }
    stretches.back()[1] = i + 1;
  }
  return stretches;
}

NamedMemory named_by(const State& self, const std::string& mark) {
  std::array<char, 64> name{};
  std::array<char, 16> role{};
  std::array<char, 16> dtype{};
  long long elements = 0;
  long long address = 0;
  if (std::sscanf(mark.c_str(), "apo:%15[a-z] %63[A-Za-z0-9_] %15[a-z0-9][%lld] %lli", role.data(), name.data(),
                  dtype.data(), &elements, &address) != 5) {
    refuse(fmt::format("the mark '{}' is none as 'apo:input x bf16[4096] 0x7f2a00000000'", mark));
  }
  const auto at = static_cast<cuda::Pointer>(address);
  for (std::size_t i = 0; i < self.memory.size(); ++i) {
    if (at >= self.memory[i] && at < self.memory[i] + static_cast<cuda::Pointer>(self.call.memory[i].bytes)) {
      return {.name = name.data(),
              .dtype = dtype.data(),
              .elements = elements,
              .is_output = std::string_view(role.data()) == "output",
              .memory = static_cast<int>(i),
              .offset = static_cast<std::int64_t>(at - self.memory[i])};
    }
  }
  refuse(fmt::format("the mark '{}' names memory that nothing in the range works on", mark));
}

void take_results(State& self, ProgramCall& found) {
  for (std::size_t i = 0; i < self.memory.size(); ++i) {
    const RecordedMemory& memory = self.call.memory[i];
    found.written.emplace_back();
    found.results.emplace_back();
    if (!is_allocated(self, self.memory[i], memory.bytes)) {
      continue;  // scratch that the range itself has freed: nobody reads it any more
    }
    const std::string after = read_memory(self, self.memory[i], memory.bytes);
    found.written.back() = changed(memory, after);
    for (const auto& [begin, end] : found.written.back()) {
      found.results.back() += after.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    }
  }
  for (const std::string& mark : self.marks) {
    found.named.push_back(named_by(self, mark));
  }
}

// The driver works: it is called from within.
void begin_program_call(State& self) {
  std::string missing;
  begin_call(self, {});
  if (!load_driver(self, missing)) {
    self.refusal = missing;
    end_program_call(self);
  }
}

}  // namespace

void end_program_call(State& self) {
  ProgramCall found{.program = self.wanted.program, .refusal = {}};
  self.recording = false;
  if (self.call.operations.empty()) {
    self.refused(self.wanted.kernel.empty()
                     ? "the range gives the GPU no work"
                     : "it is captured into a CUDA graph: record an NVTX range in which that is launched");
  }
  try {
    if (self.refusal.empty()) {
      check_memory(self);
      take_results(self, found);
    }
  } catch (const Unrecordable& refused) {
    self.refused(refused.why);
  }
  found.refusal = self.refusal;
  found.call = found.refusal.empty() ? std::exchange(self.call, {}) : RecordedCall();
  std::exchange(self.done, {})(found);
}

void await_program_call(State& self, const cupti::CallbackData& call, std::string_view function) {
  self.graphs += self.done && function.starts_with("cuGraphLaunch") ? 1 : 0;
  if (self.done && !self.recording && function.starts_with("cuLaunch") &&
      is_symbol_of(call.symbol == nullptr ? "" : call.symbol, self.wanted.kernel) &&
      ++self.launches == self.wanted.nth) {
    begin_program_call(self);
    self.closing = self.done ? call.correlation : 0;
  }
}

}  // namespace recorder

using recorder::is_ours;
using recorder::range_depth;
using recorder::state;

void CallRecorder::enter_range(std::string_view name) {
  recorder::State& self = state();
  const std::lock_guard lock(self.mutex);
  if (range_depth > 0) {
    ++range_depth;
  } else if (self.done && !self.recording && !self.wanted.range.empty() && self.wanted.range == name) {
    is_ours = true;
    recorder::begin_program_call(self);
    is_ours = false;
    range_depth = self.done ? 1 : 0;
  }
}

void CallRecorder::leave_range() {
  if (range_depth == 0 || --range_depth > 0) {
    return;
  }
  recorder::State& self = state();
  const std::lock_guard lock(self.mutex);
  is_ours = true;
  recorder::end_program_call(self);
  is_ours = false;
}

void CallRecorder::name_memory(std::string_view mark) {
  if (range_depth > 0 && mark.starts_with("apo:")) {
    recorder::State& self = state();
    const std::lock_guard lock(self.mutex);
    self.marks.emplace_back(mark);
  }
}

void CallRecorder::give_up() {
  recorder::State& self = state();
  const std::lock_guard lock(self.mutex);
  if (!self.done) {
    return;
  }
  if (self.recording) {
    self.refused("the program ended within the range");
  } else if (self.wanted.kernel.empty()) {
    self.refused(fmt::format("the program entered no NVTX range '{}'", self.wanted.range));
  } else {
    self.refused(fmt::format(
        "the program launched '{}' {} times, not {}{}", self.wanted.kernel, self.launches, self.wanted.nth,
        self.graphs == 0 ? "" : fmt::format(", and {} CUDA graphs: record an NVTX range round those", self.graphs)));
  }
  std::exchange(self.done, {})({.program = self.wanted.program, .refusal = self.refusal});
}

}  // namespace apo
