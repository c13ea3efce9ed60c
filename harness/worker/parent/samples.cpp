// harness/worker/parent/samples.cpp - checks order, number and stamps of samples against the request.
#include "harness/worker/parent/samples.h"

#include <fmt/format.h>

#include <algorithm>

namespace apo {
namespace {

// Events lie inside the host's stamps. Two oscillators may differ by some ten parts in a million; allow a thousand.
bool clocks_agree(const RawSample& sample, Target target, bool activity) {
  const bool recorded = sample.activity_ns != 0 || sample.activity_kernels != 0;
  if (target == Target::host) {
    return sample.device_ns == 0 && !recorded;
  }
  if (sample.activity_ns < 0 || sample.activity_kernels < 0 || (recorded && !activity)) {
    return false;
  }
  const std::int64_t host_ns = sample.end_ns - sample.begin_ns;
  return sample.device_ns >= 0 && sample.device_ns <= host_ns + host_ns / 1000;
}

std::optional<std::string> mistake_in_times(const std::vector<RawSample>& samples, Target target, bool activity,
                                            std::int64_t sent_ns, std::int64_t received_ns) {
  std::int64_t last_ns = sent_ns;
  for (const RawSample& sample : samples) {
    if (sample.begin_ns < last_ns || sample.end_ns < sample.begin_ns) {
      return "its time stamps run backwards";
    }
    if (!clocks_agree(sample, target, activity)) {
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
  return mistake_in_times(samples, target, request.activity, sent_ns, received_ns);
}

bool begins_with(const std::vector<RawSample>& samples, const std::vector<RawSample>& beginning) {
  return samples.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), samples.begin());
}

}  // namespace apo
