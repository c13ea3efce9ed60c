// harness/worker/recorder/stream_order.cpp - vector clocks of streams, events and the host.
#include "harness/worker/recorder/stream_order.h"

#include <algorithm>

namespace apo {

void StreamOrder::learn(Clock& one, const Clock& other) {
  for (const auto& [stream, count] : other) {
    auto& known = one.emplace(stream, count).first->second;
    known = std::max(known, count);
  }
}

// What is put on a stream comes after what the host has waited for.
StreamOrder::Clock& StreamOrder::clock(Handle stream) {
  Clock& known = streams_[stream];
  learn(known, host_);
  return known;
}

void StreamOrder::works(Handle stream) {
  Clock& known = clock(stream);
  is_early_ = is_early_ || !known.contains(nullptr);
  operations_.emplace_back(stream, ++known[stream]);
}

void StreamOrder::records(Handle event, Handle stream) {
  events_[event] = clock(stream);
}

void StreamOrder::waits(Handle stream, Handle event) {
  learn(clock(stream), events_[event]);
}

void StreamOrder::host_waits_for_stream(Handle stream) {
  learn(host_, streams_[stream]);
}

void StreamOrder::host_waits_for_event(Handle event) {
  learn(host_, events_[event]);
}

void StreamOrder::host_waits_for_all() {
  before_all_ = host_;
  for (const auto& [stream, known] : streams_) {
    learn(host_, known);
  }
}

std::string StreamOrder::fault(const std::function<bool(const std::vector<std::size_t>&)>& matters) const {
  if (is_early_) {
    return "it works on a stream of its own that does not wait for the caller's, where the inputs are written: record "
           "an event "
           "there first, and wait for it";
  }
  Clock end = streams_.at(nullptr);
  learn(end, before_all_);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto& [stream, number] = operations_[i];
    const auto known = end.find(stream);
    if (known == end.end() || known->second < number) {
      open.push_back(i);
    }
  }
  return !open.empty() && matters(open)
             ? "it works on a stream of its own that the caller's does not wait for, where the outputs are read: "
               "record an event behind that work, and have the caller's stream wait for it"
             : "";
}

}  // namespace apo
