// harness/core/nvtx.cpp - NVTX 3, which is a header alone and finds its tool by itself at the first call.
#include "harness/core/nvtx.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace apo {

#ifdef NVTX_VERSION

namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t kDomain = nvtxDomainCreateA("apo");
  return kDomain;
}

}  // namespace

StageRange::StageRange(const std::string& name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);  // copied by the tool; returns the depth
}

StageRange::~StageRange() {
  nvtxDomainRangePop(domain());
}

#else

StageRange::StageRange(const std::string&) {}

StageRange::~StageRange() = default;

#endif

}  // namespace apo
