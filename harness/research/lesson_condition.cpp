// harness/research/lesson_condition.cpp - compares the incumbent's stalls of then and now.
#include "harness/research/lesson_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/core/records/stalls.h"
#include "harness/core/text.h"

namespace apo {

std::string waiting_words(const std::string& stall) {
  static const std::map<std::string, std::string_view, std::less<>> kWords = {
      {"barrier", "barriers"},
      {"long_scoreboard", "global or local memory"},
      {"short_scoreboard", "shared memory or special functions"},
      {"mio_throttle", "room in the queue of shared memory"},
      {"lg_throttle", "room in the queue of global memory"},
      {"math_pipe_throttle", "a busy arithmetic unit"},
      {"wait", "the fixed latency of the instruction before"},
      {"not_selected", "other warps that are issued first"},
      {"no_instruction", "instructions to be fetched"},
      {"membar", "memory fences"},
      {"sleeping", "the end of a sleep"},
      {"drain", "stores to be written"},
      {"branch_resolve", "branches to be resolved"},
      {"dispatch_stall", "the dispatcher"}};
  const auto found = kWords.find(stall);
  return std::string(found == kWords.end() ? std::string_view(stall) : found->second);
}

std::string changed_stall(const LessonCondition& then, const Profile& now) {
  const auto stalls = top_stalls(now);
  if (then.stall.empty() || stalls.empty()) {
    return "";
  }
  const auto same = std::ranges::find_if(stalls, [&](const auto& one) { return one.first == then.stall; });
  const double share = same == stalls.end() ? 0 : same->second;
  if (share >= 0.5 * stalls.front().second) {
    return "";
  }
  return fmt::format("the incumbent waited for {} then and waits for {} now", waiting_words(then.stall),
                     waiting_words(stalls.front().first));
}

}  // namespace apo
