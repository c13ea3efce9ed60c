// harness/core/guards.cpp - the table of guards, and one switch for each.
#include "harness/core/guards.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "harness/core/error.h"

namespace apo {
namespace {

constexpr std::array kRows = {
    GuardRow{Guard::process, "process", "a candidate's crash, exit or exception is its outcome, never ours", false},
    GuardRow{Guard::deadline, "deadline", "every request is answered in time", false},
    GuardRow{Guard::memory_limit, "memory-limit", "a candidate's address space has an end", false},
    GuardRow{Guard::build, "build", "metadata, launch and resources are legal, and the source compiles", false},
    GuardRow{Guard::poison, "poison",
             "outputs hold NaN, or a secret byte in integers, before every call; on a GPU scratch too", true},
    GuardRow{Guard::reference, "reference", "outputs are those of the fp64 reference; NaN never passes", true},
    GuardRow{Guard::regimes, "regimes",
             "several input regimes, not only the typical one, also where host code is timed", true},
    GuardRow{Guard::shapes, "shapes",
             "small and ragged workloads and shapes that are drawn, not only the one that is timed", true},
    GuardRow{Guard::guard_zones, "guard-zones", "the bytes round every buffer keep their pattern", true},
    GuardRow{Guard::fences, "fences", "where host code is checked, the page behind an input cannot be read", true},
    GuardRow{Guard::inputs, "inputs", "inputs are as they were, byte for byte", true},
    GuardRow{Guard::repeat, "repeat", "the same call again gives the same bits, where the family says so", true},
    GuardRow{Guard::windows, "windows",
             "host code runs in windows of a process of its own, on inputs that it has never seen, and is else stopped",
             false},
    GuardRow{
        Guard::seccomp, "seccomp",
        "no processes, programs, signals to others, sockets, limits, priorities, administrator's rights, and nothing "
        "that outlives the process",
        true},
    GuardRow{Guard::landlock, "landlock", "no file is written, and no memory of other processes read", true},
    GuardRow{Guard::room, "room", "host code opens no file, and sees no process but its own", true},
    GuardRow{Guard::reply, "reply", "replies carry the nonce, and their samples and stamps make sense", true},
    GuardRow{Guard::code, "code",
             "the code that ran is the code that was built and loaded, and that of libraries which it names", true},
    GuardRow{Guard::floor, "floor", "no call is faster than its compulsory work at the measured roofs", false},
    GuardRow{Guard::timed_check, "timed-check", "outputs of randomly chosen timed calls are right", true},
    GuardRow{Guard::fresh_inputs, "fresh-inputs",
             "on a GPU, calls on inputs made right before are right, and the gain holds", true},
    GuardRow{Guard::state, "state", "a module's variables, constants included, are put back before every sample", true},
    GuardRow{Guard::l2, "l2", "nothing persists in the L2 from one sample to the next", true},
    GuardRow{Guard::same_code, "same-code", "machine code identical to the incumbent's is no change", true},
    GuardRow{Guard::sanitizers, "sanitizers", "ASan, UBSan and TSan, or memcheck and racecheck, stay silent", true},
    GuardRow{Guard::executor, "executor", "device code shows no race or stray access on the CPU", true},
    GuardRow{Guard::judge, "judge", "the paired test over fresh processes, confirmed", false},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].guard) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_order());

std::array<bool, kRows.size()> off{};

}  // namespace

std::span<const GuardRow> guard_rows() {
  return kRows;
}

std::string_view to_string(Guard guard) {
  return kRows.at(static_cast<std::size_t>(guard)).name;
}

std::optional<Guard> guard_from(std::string_view name) {
  const auto* const found =
      std::ranges::find(kRows, name, [](const GuardRow& row) -> std::string_view { return row.name; });
  return found == kRows.end() ? std::nullopt : std::optional(found->guard);
}

bool guard_is_on(Guard guard) {
  return !off.at(static_cast<std::size_t>(guard));
}

void switch_off(Guard guard) {
  APO_CHECK(kRows.at(static_cast<std::size_t>(guard)).can_be_off);
  off.at(static_cast<std::size_t>(guard)) = true;
}

std::vector<std::string> guards_off() {
  std::vector<std::string> names;
  for (const GuardRow& row : kRows) {
    if (!guard_is_on(row.guard)) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

}  // namespace apo
