// harness/injection/cupti_recording.cpp - CUPTI's callbacks: buffers of records, and launches within ranges.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

#include "harness/injection/session.h"
#include "harness/worker/cupti/cupti.h"

namespace apo {
namespace {

constexpr int kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kPeerMemcpy, cupti::kMemset};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  const int error = errno;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(cupti::kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
  session().buffer_asked = true;
  errno = error;
}

void add_records(Session& self, std::uint8_t* buffer, std::size_t valid_bytes) {
  const std::lock_guard lock(self.mutex);
  self.recorder.forget_names();
  cupti::RecordBytes record = nullptr;
  while (self.cupti->next_record(buffer, valid_bytes, &record) == cupti::kSuccess) {
    self.recorder.add(record);
  }
  std::size_t dropped = 0;
  if (self.cupti->dropped_records(nullptr, 0, &dropped) == cupti::kSuccess) {
    self.dropped += static_cast<std::int64_t>(dropped);
  }
}

void complete_buffer(cupti::Context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  const int error = errno;
  Session& self = session();
  try {
    if (buffer != nullptr && valid_bytes > 0 && self.owner == getpid()) {
      add_records(self, buffer, valid_bytes);
    }
  } catch (const std::exception&) {
    // Out of memory: the rest of this buffer is lost, and the file must not claim to be whole.
    const std::lock_guard lock(self.mutex);
    self.dropped += 1;
  }
  std::free(buffer);
  errno = error;
}

// Launches, copies and fills of the driver and of the runtime; of the rest nothing is recorded.
bool starts_work(const char* function) {
  const std::string_view name = function == nullptr ? "" : function;
  const std::string_view call = name.substr(name.starts_with("cuda") ? 4 : std::min<std::size_t>(2, name.size()));
  return call.starts_with("Launch") || call.starts_with("Mem") || call.starts_with("GraphLaunch");
}

// Only asked for once there are ranges. A call of the runtime makes one of the driver, and CUPTI names the record after
// one of the two.
void note_launch(void*, int domain, std::uint32_t, const void* data) {
  const auto* const call = static_cast<const cupti::CallbackData*>(data);
  const bool enters = (domain == cupti::kDriverApi || domain == cupti::kRuntimeApi) && call->site == cupti::kEnter;
  if (enters && starts_work(call->function)) {
    session().ranges.launched(call->correlation);
  }
}

bool check(Session& self, cupti::Result result, const char* what) {
  if (result != cupti::kSuccess) {
    self.missing = std::string(what) + ": " + cupti::describe(*self.cupti, result);
  }
  return result == cupti::kSuccess;
}

}  // namespace

bool start_recording(Session& self) {
  self.cupti = cupti::load_library(self.missing);
  if (self.cupti == nullptr) {
    return false;
  }
  const cupti::Result subscribed = self.cupti->subscribe(&self.subscriber, note_launch, nullptr);
  if (!check(self, subscribed,
             subscribed == cupti::kMultipleSubscribers ? "another profiler watches this process"
                                                       : "CUPTI does not start")) {
    return false;
  }
  if (!check(self, self.cupti->register_callbacks(request_buffer, complete_buffer), "CUPTI takes no buffers")) {
    self.cupti->unsubscribe(self.subscriber);
    return false;
  }
  for (const int kind : kKinds) {
    if (!check(self, self.cupti->enable(kind), "CUPTI does not record kernels")) {
      for (const int enabled : kKinds) {
        self.cupti->disable(enabled);  // refused for those that never were
      }
      self.cupti->unsubscribe(self.subscriber);
      return false;
    }
  }
  return true;
}

void watch_launches(Session& self) {
  if (self.recording && !self.watching.exchange(true)) {
    for (const int domain : {cupti::kDriverApi, cupti::kRuntimeApi}) {
      self.cupti->enable_domain(1, self.subscriber, domain);  // where it fails, no work is known to be in a range
    }
  }
}

}  // namespace apo
