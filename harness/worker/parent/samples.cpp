// harness/worker/parent/samples.cpp - checks order, number and stamps of samples against the request.
#include "harness/worker/parent/samples.h"

#include <fmt/format.h>

#include <algorithm>

namespace apo {
namespace {

bool runs_backwards(const RawSample& sample) {
  return sample.end_ns < sample.begin_ns || sample.end_ticks < sample.begin_ticks ||
         sample.end_cpu_ns < sample.begin_cpu_ns;
}

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

}  // namespace

double elapsed_ns(const RawSample& sample, Target target) {
  return static_cast<double>(target == Target::cuda ? sample.device_ns : sample.end_ns - sample.begin_ns);
}

std::optional<std::string> mistake_in(const std::vector<RawSample>& samples, const RunRequest& request,
                                      std::int64_t sent_ns, std::int64_t received_ns, Target target) {
  if (samples.size() != request.order.size()) {
    return fmt::format("it has {} samples of {}", samples.size(), request.order.size());
  }
  RawSample previous{.end_ns = sent_ns};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const RawSample& sample = samples[i];
    if (sample.slot != request.order[i] || sample.set != (request.sets.empty() ? 0 : request.sets[i])) {
      return "its samples are not in the order that was asked for";
    }
    if (runs_backwards(sample) || sample.begin_ns < previous.end_ns || sample.begin_ticks < previous.end_ticks ||
        sample.begin_cpu_ns < previous.end_cpu_ns) {
      return "its time stamps run backwards";
    }
    if (!clocks_agree(sample, target, request.activity)) {
      return "its clocks disagree about a sample";
    }
    previous = sample;
  }
  if (previous.end_ns > received_ns) {
    return "its time stamps lie in the future";
  }
  return std::nullopt;
}

bool begins_with(const std::vector<RawSample>& samples, const std::vector<RawSample>& beginning) {
  return samples.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), samples.begin());
}

}  // namespace apo
