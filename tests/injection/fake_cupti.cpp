// tests/injection/fake_cupti.cpp - stands for NVIDIA's CUPTI where there is no GPU: hands over the records that a test
// program puts in, in buffers that the library under test gives.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "harness/worker/cupti/cupti.h"

namespace {

using namespace apo::cupti;

constexpr std::size_t kRecordBytes = 256;  // larger than any that is read

// The buffer that is being filled: asked for at the first record, handed over when it is full or flushed.
struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

std::mutex mutex;
Callback callback = nullptr;
bool watched[3] = {};  // by domain
std::uint32_t calls = 0;
Buffer current;
RequestBuffer request_buffer = nullptr;
CompleteBuffer complete_buffer = nullptr;
std::size_t next_offset = 0;
int flushes = 0;
bool holds_back = false;

void hand_over() {
  if (current.bytes != nullptr && !holds_back) {
    complete_buffer(nullptr, 0, current.bytes, current.size, current.used);
    current = {};
  }
}

template <class Known>
void add(const Known& known) {
  static_assert(sizeof known <= kRecordBytes);
  const std::lock_guard lock(mutex);
  if (request_buffer == nullptr) {
    return;  // nobody records
  }
  if (current.bytes == nullptr) {
    std::size_t most = 0;
    request_buffer(&current.bytes, &current.size, &most);
  }
  std::memcpy(current.bytes + current.used, &known, sizeof known);
  current.used += kRecordBytes;
  if (current.used + kRecordBytes > current.size) {
    hand_over();
  }
}

}  // namespace

#define APO_EXPORTED extern "C" __attribute__((visibility("default")))

APO_EXPORTED Result cuptiGetVersion(std::uint32_t* version) {
  const char* other = std::getenv("APO_TEST_CUPTI_VERSION");
  *version = other != nullptr ? static_cast<std::uint32_t>(std::atoi(other)) : 130'001;
  return kSuccess;
}
APO_EXPORTED Result cuptiGetResultString(Result, const char** text) {
  *text = "CUPTI_ERROR_OF_THE_TEST";
  return kSuccess;
}
APO_EXPORTED Result cuptiSubscribe(Subscriber* subscriber, Callback given, void*) {
  *subscriber = subscriber;
  callback = given;
  return std::getenv("APO_TEST_OTHER_PROFILER") != nullptr ? kMultipleSubscribers : kSuccess;
}
APO_EXPORTED Result cuptiUnsubscribe(Subscriber) {
  return kSuccess;
}
APO_EXPORTED Result cuptiEnableDomain(std::uint32_t enable, Subscriber, int domain) {
  watched[domain] = enable != 0;
  return kSuccess;
}
APO_EXPORTED Result cuptiEnableCallback(std::uint32_t, Subscriber, int, std::uint32_t) {
  return kSuccess;
}
APO_EXPORTED Result cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  request_buffer = request;
  complete_buffer = complete;
  return kSuccess;
}
APO_EXPORTED Result cuptiActivityEnable(int) {
  return kSuccess;
}
APO_EXPORTED Result cuptiActivityDisable(int) {
  return kSuccess;
}
APO_EXPORTED Result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, RecordBytes* record) {
  if (next_offset + kRecordBytes > valid_bytes) {
    next_offset = 0;
    return kMaxLimitReached;
  }
  *record = buffer + next_offset;
  next_offset += kRecordBytes;
  return kSuccess;
}
APO_EXPORTED Result cuptiActivityGetNumDroppedRecords(Context, std::uint32_t, std::size_t* dropped) {
  *dropped = 0;
  return kSuccess;
}
APO_EXPORTED Result cuptiActivityFlushAll(std::uint32_t) {
  const std::lock_guard lock(mutex);
  hand_over();
  ++flushes;
  return kSuccess;
}

// What a test program "runs on the GPU".
// The runtime calls the driver; the record is named after the runtime's call, which came first.
APO_EXPORTED void fake_kernel(const char* name, std::uint64_t start, std::uint64_t end) {
  const std::uint32_t correlation = calls + 1;
  for (const auto& [domain, function] :
       {std::pair{kRuntimeApi, "cudaLaunchKernel"}, std::pair{kDriverApi, "cuLaunchKernel"}}) {
    const CallbackData data{.site = kEnter, .function = function, .symbol = name, .correlation = ++calls};
    if (watched[domain]) {
      callback(nullptr, domain, 0, &data);
    }
  }
  add(KernelRecord{.kind = kConcurrentKernel, .start = start, .end = end, .correlation = correlation, .name = name});
}
// How often what had run was handed over.
APO_EXPORTED int fake_flushes() {
  const std::lock_guard lock(mutex);
  return flushes;
}
// What is launched from now on runs until the process ends.
APO_EXPORTED void fake_hold_back() {
  const std::lock_guard lock(mutex);
  holds_back = true;
}
APO_EXPORTED void fake_copy(std::uint8_t direction, std::uint64_t bytes, std::uint64_t start, std::uint64_t end) {
  add(CopyRecord{.kind = kMemcpy, .direction = direction, .bytes = bytes, .start = start, .end = end});
}
