// harness/worker/cupti/range_session.cpp - calls the range profiler in order, with automatic ranges.
#include "harness/worker/cupti/range_session.h"

namespace apo {

cupti::Result RangeSession::open(cupti::Context context) {
  cupti::Enable enabled{.context = context};
  const auto result = at("opening a session", profiler_.enable(&enabled));
  session_ = result == cupti::kSuccess ? enabled.session : nullptr;
  return result;
}

cupti::Result RangeSession::make_room(const std::vector<std::string>& metrics, std::size_t launches) {
  std::vector<const char*> names = c_names(metrics);
  cupti::GetCounterDataSize sized{.session = session_,
                                  .names = names.data(),
                                  .count = names.size(),
                                  .most_ranges = launches,
                                  .most_nodes = static_cast<std::uint32_t>(launches)};
  if (const auto result = at("sizing the counters", profiler_.counter_data_size(&sized)); result != cupti::kSuccess) {
    return result;
  }
  data_.assign(sized.bytes, 0);
  cupti::InitializeCounterData initial{.session = session_, .bytes = data_.size(), .data = data_.data()};
  return at("making room for the counters", profiler_.initialize_counter_data(&initial));
}

cupti::Result RangeSession::set_up(const std::vector<std::string>& metrics, std::size_t launches, bool repeatable) {
  if (const auto result = make_room(metrics, launches); result != cupti::kSuccess) {
    return result;
  }
  cupti::SetConfig set{.session = session_,
                       .config_bytes = config_.image.size(),
                       .config = config_.image.data(),
                       .data_bytes = data_.size(),
                       .data = data_.data(),
                       .replay = repeatable ? cupti::kUserReplay : cupti::kKernelReplay,
                       .most_ranges_in_pass = launches};
  auto result = at("configuring the counters", profiler_.set_config(&set));
  if (result != cupti::kSuccess && repeatable) {
    set.replay = cupti::kKernelReplay;
    result = at("configuring the counters", profiler_.set_config(&set));
  }
  by_user_ = set.replay == cupti::kUserReplay;
  complete_ = false;
  return result;
}

cupti::Result RangeSession::start() {
  cupti::OfSession start{.session = session_};
  return at("starting the counters", profiler_.start(&start));
}

cupti::Result RangeSession::stop() {
  cupti::Stop stop{.session = session_};
  const auto result = at("stopping the counters", profiler_.stop(&stop));
  complete_ = !by_user_ || stop.all_passes_submitted != 0;
  return result;
}

cupti::Result RangeSession::finish() {
  cupti::DecodeData decoded{.session = session_};
  if (const auto result = at("decoding the counters", profiler_.decode(&decoded)); result != cupti::kSuccess) {
    return result;
  }
  dropped_ = decoded.dropped;
  cupti::GetCounterDataInfo info{.data = data_.data(), .bytes = data_.size()};
  const auto result = at("reading the counters", profiler_.counter_data_info(&info));
  ranges_ = info.ranges;
  return result;
}

// Errors are passed over: after a kernel's fault nothing of CUPTI works, and the fault is what is reported.
void RangeSession::end() {
  if (session_ != nullptr) {
    cupti::OfSession disable{.session = session_};
    profiler_.disable(&disable);
    session_ = nullptr;
  }
}

}  // namespace apo
