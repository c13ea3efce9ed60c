// harness/core/nvtx.cpp - calls NVTX 3, a header-only library that finds its tool at the first call.
#include "harness/core/nvtx.h"

#include <utility>

#include "harness/core/stopwatch.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace apo {

namespace {

std::function<void(const std::string&, double)>& observer_of_stages() {
  static std::function<void(const std::string&, double)> observer;
  return observer;
}

#ifdef NVTX_VERSION

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t kDomain = nvtxDomainCreateA("apo");
  return kDomain;
}

void push(const std::string& name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);  // copied by the tool; returns the depth
}

void pop() {
  nvtxDomainRangePop(domain());
}

#else

void push(const std::string&) {}
void pop() {}

#endif

}  // namespace

void on_stage_end(std::function<void(const std::string& name, double seconds)> observer) {
  observer_of_stages() = std::move(observer);
}

StageRange::StageRange(std::string name) : name_(std::move(name)), begin_(std::chrono::steady_clock::now()) {
  push(name_);
}

StageRange::~StageRange() {
  pop();
  tell_stage(name_, seconds_since(begin_));
}

void tell_stage(const std::string& name, double seconds) {
  if (observer_of_stages()) {
    observer_of_stages()(name, seconds);
  }
}

}  // namespace apo
