// harness/worker/parent/evidence.cpp - checks samples against their request; describes wait statuses, faults and
// sanitizer reports.
#include "harness/worker/parent/evidence.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include "harness/core/pattern.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/worker/confinement/confinement.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 19> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

// "0x7f.., 4096 bytes past the end of the tensors' memory"
std::string place(const Death& death) {
  std::string text = hexadecimal(death.address);
  // As far as the reserved space round the tensors goes; what is farther off has nothing to do with them.
  constexpr std::uint64_t kNear = kTensorsReserve;
  const std::uint64_t begin = death.tensors_base;
  const std::uint64_t end = begin + static_cast<std::uint64_t>(death.tensors_bytes);
  if (begin == 0 || death.address + kNear < begin || death.address >= end + kNear) {
    return text;
  }
  if (death.address >= end) {
    return fmt::format("{}, {} bytes past the end of the tensors' memory", text, death.address - end);
  }
  if (death.address < begin) {
    return fmt::format("{}, {} bytes before the tensors' memory", text, begin - death.address);
  }
  return text + ", inside the tensors' memory";
}

bool reached_limit(const Death& death) {
  return death.data_limit > 0 && death.data_bytes > death.data_limit / 10 * 9;
}

Failure killed_by(int signal, const Death& death) {
  const std::string during = " during " + death.during;
  if (signal == SIGKILL) {
    return {.outcome = Outcome::out_of_memory,
            .evidence = "killed by SIGKILL" + during +
                        " that this program did not send: most likely the system's out-of-memory killer"};
  }
  if (signal == SIGSYS) {
    // The number is missing when the candidate, or the C library for it, had blocked the signal.
    return {.evidence = (death.forbidden_call < 0
                             ? "made a forbidden system call"
                             : "made the forbidden system call '" + system_call_name(death.forbidden_call) + "'") +
                        during};
  }
  if (signal == SIGXCPU) {
    return {.outcome = Outcome::timed_out, .evidence = "used up its CPU time" + during};
  }
  Failure failure{.evidence = signal_name(signal) + during};
  if (signal == death.signal && reached_limit(death)) {
    failure.outcome = Outcome::out_of_memory;
    failure.evidence += " with " + format_bytes(static_cast<double>(death.data_bytes)) + " of memory used of " +
                        format_bytes(static_cast<double>(death.data_limit));
  } else if (signal == death.signal && death.stack_overflow) {
    failure.evidence += ": stack overflow";
  } else if (signal == death.signal && (signal == SIGSEGV || signal == SIGBUS)) {
    failure.evidence += " at address " + place(death);
  }
  return failure;
}

// "in apo_launch simple.cpp:88": the first frame of the report with a source line, else "".
std::string first_frame(const std::string& report) {
  static const Pattern kFrame(R"(#\d+ 0x[0-9a-f]+ in ([^\n]*?) ([^\s]*/)?([^\s/]+:\d+)(:\d+)?\n)");
  const auto match = kFrame.search(report);
  return match ? " in " + (*match)[1] + " " + (*match)[3] : "";
}

// ": write of size 4 in variant.cpp:15, previous read of size 4 in variant.cpp:15" of ThreadSanitizer's report.
std::string two_accesses(const std::string& report) {
  static const Pattern kEach(R"(\n  ((?:Previous )?(?:[Aa]tomic )?(?:[Rr]ead|[Ww]rite) of size \d+) [^\n]*\n)"
                             R"((?:    #\d+ (?:[^\n]*?(?:[^\s/]*/)*([^\s/:]+:\d+))?[^\n]*\n)?)");
  std::string sentence;
  for (const PatternMatch& access : kEach.all(report)) {
    std::string what = access[1];
    what.front() = what.front() == 'P' ? 'p' : what.front();
    sentence += (sentence.empty() ? ": " : ", ") + what + (access[2].empty() ? "" : " in " + access[2]);
  }
  return sentence;
}

}  // namespace

std::string printable_tail(std::string_view text, std::size_t limit) {
  // Twice the limit is enough to fill it after blanks are joined; more would only cost time.
  const std::size_t start = text.size() > 2 * limit ? text.size() - 2 * limit : 0;
  std::string result;
  for (const char letter : trim(text.substr(start))) {
    if (letter == '\n') {
      result += " / ";
    } else if (letter == ' ' || letter == '\t') {
      result += result.ends_with(' ') ? "" : " ";
    } else {
      result += letter > ' ' && letter <= '~' ? letter : '?';
    }
  }
  return result.size() > limit ? result.substr(result.size() - limit) : result;
}

std::optional<std::string> sanitizer_report(std::string_view printed) {
  const std::string text(printed);
  static const Pattern kUndefined(R"(([^\s/]+:\d+):\d+: runtime error: ([^\n]*))");
  static const Pattern kAddress(R"(ERROR: AddressSanitizer:? ([^\n]*))");
  static const Pattern kAccess(R"((READ|WRITE) of size \d+)");
  static const Pattern kThreads(R"(WARNING: ThreadSanitizer: ([^\n(]*) \()");
  if (const auto match = kThreads.search(text)) {
    return (*match)[1] + two_accesses(text.substr(match->begin));
  }
  if (const auto match = kAddress.search(text)) {
    const std::string report = text.substr(match->begin);
    std::string sentence = (*match)[1];
    // "heap-buffer-overflow on address 0x... at pc ...": the numbers say nothing to a reader.
    sentence = sentence.substr(0, sentence.find_first_of(" :"));
    if (sentence == "use-after-poison") {
      sentence += " (outside every buffer)";
    } else if ((*match)[1].find("hard rss limit") != std::string::npos) {
      sentence = "hard rss limit exhausted";
    }
    if (const auto access = kAccess.search(report)) {
      sentence += " " + (*access)[0];
    }
    return sentence + first_frame(report);
  }
  if (const auto match = kUndefined.search(text)) {
    return "undefined behaviour in " + (*match)[1] + ": " + (*match)[2];
  }
  return std::nullopt;
}

std::string with_output(const std::string& sentence, std::string_view printed) {
  const std::string tail = printable_tail(printed);
  return tail.empty() ? sentence : sentence + "; it printed: " + tail;
}

Failure explain(const Death& death) {
  Failure failure;
  if (const auto report = sanitizer_report(death.printed)) {
    failure.evidence = *report;
    if (report->find("out-of-memory") != std::string::npos || report->find("hard rss limit") != std::string::npos) {
      failure.outcome = Outcome::out_of_memory;
    }
    failure.slot = death.slot;
    return failure;
  }
  if (WIFSIGNALED(death.wait_status)) {
    failure = killed_by(WTERMSIG(death.wait_status), death);
  } else if (WEXITSTATUS(death.wait_status) == kExitConnectionLost) {
    failure.evidence = "closed the worker's connection during " + death.during;
  } else {
    failure.evidence = fmt::format("exited with status {} during {}", WEXITSTATUS(death.wait_status), death.during);
  }
  failure.evidence = with_output(failure.evidence, death.printed);
  failure.slot = death.slot;
  return failure;
}

namespace {

// Events lie inside the host's stamps. Two oscillators may differ by some ten parts in a million; allow a thousand.
bool clocks_agree(const RawSample& sample, Target target) {
  if (target == Target::host) {
    return sample.device_ns == 0;
  }
  const std::int64_t host_ns = sample.end_ns - sample.begin_ns;
  return sample.device_ns >= 0 && sample.device_ns <= host_ns + host_ns / 1000;
}

std::optional<std::string> mistake_in_times(const std::vector<RawSample>& samples, Target target, std::int64_t sent_ns,
                                            std::int64_t received_ns) {
  std::int64_t last_ns = sent_ns;
  for (const RawSample& sample : samples) {
    if (sample.begin_ns < last_ns || sample.end_ns < sample.begin_ns) {
      return "its time stamps run backwards";
    }
    if (!clocks_agree(sample, target)) {
      return "its clocks disagree about a sample";
    }
    last_ns = sample.end_ns;
  }
  return last_ns > received_ns ? std::optional<std::string>("its time stamps lie in the future") : std::nullopt;
}

}  // namespace

double elapsed_ns(const RawSample& sample, Target target) {
  return static_cast<double>(target == Target::cuda ? sample.device_ns : sample.end_ns - sample.begin_ns);
}

std::optional<std::string> mistake_in(const std::vector<RawSample>& samples, const RunRequest& request,
                                      std::int64_t sent_ns, std::int64_t received_ns, Target target) {
  if (samples.size() != request.order.size()) {
    return fmt::format("it has {} samples of {}", samples.size(), request.order.size());
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].slot != request.order[i] || samples[i].set != (request.sets.empty() ? 0 : request.sets[i])) {
      return "its samples are not in the order that was asked for";
    }
  }
  return mistake_in_times(samples, target, sent_ns, received_ns);
}

bool begins_with(const std::vector<RawSample>& samples, const std::vector<RawSample>& beginning) {
  return samples.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), samples.begin());
}

}  // namespace apo
