// harness/worker/parent/evidence.h - judges what comes from a worker: its samples, its output, and the remains of a
// dead one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/worker/protocol/protocol.h"
#include "harness/worker/protocol/result.h"

namespace apo {

inline constexpr const char* kLostGpuHint =
    "'nvidia-smi' and the kernel's log ('dmesg', Xid) say why. Nothing was decided about the candidate: when 'apo "
    "doctor' finds the GPU again, the same command goes on";

inline constexpr std::size_t kOutputTail = 2048;

// Reduces text to printable ASCII: line ends become " / ", runs of blanks one blank, the rest '?'. Keeps at most the
// last `limit` characters.
std::string printable_tail(std::string_view text, std::size_t limit = kOutputTail);

// The first report of Address-, Thread- or UndefinedBehaviorSanitizer in what a process printed, as one sentence:
// "heap-buffer-overflow WRITE of size 2 in apo_launch simple.cpp:88". nullopt when there is none.
std::optional<std::string> sanitizer_report(std::string_view printed);

// Describes a worker that ended by itself or by a signal that this program did not send.
struct Death {
  int wait_status = 0;              // as from waitpid
  std::string during = "the call";  // what it had been asked for
  std::string printed;              // end of its stdout and stderr
  std::int32_t signal = 0;          // from SharedStatus; 0 when its handler did not run
  std::uint64_t address = 0;        //
  bool stack_overflow = false;      //
  int forbidden_call = -1;          //
  std::int64_t data_bytes = 0;      //
  std::int64_t data_limit = 0;      // 0 = none
  std::uint64_t tensors_base = 0;   // where the tensors lay in the worker; 0 = nowhere
  std::int64_t tensors_bytes = 0;
  int slot = -1;
};
Failure explain(const Death& death);

// Adds the end of the candidate's output, if there is any.
std::string with_output(const std::string& sentence, std::string_view printed);

// Describes what is wrong with the samples of a whole run; nullopt when they are plausible. Parent and worker share one
// clock, so all stamps lie between `sent_ns` and `received_ns` and never run backwards.
std::optional<std::string> mistake_in(const std::vector<RawSample>& samples, const RunRequest& request,
                                      std::int64_t sent_ns, std::int64_t received_ns, Target target = Target::host);

// The duration of a sample by the target's own clock: the host's stamps, or on cuda the events.
double elapsed_ns(const RawSample& sample, Target target);

// Checks that `samples` repeats the samples reported at the pause.
bool begins_with(const std::vector<RawSample>& samples, const std::vector<RawSample>& beginning);

}  // namespace apo
