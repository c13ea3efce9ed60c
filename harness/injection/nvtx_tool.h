// harness/injection/nvtx_tool.h - the part of NVTX's interface for tools that is used, declared here.
//
// Where NVTX_INJECTION64_PATH names a library, an application's NVTX loads it at the first call and asks for
// InitializeInjectionNvtx2. Names, values and layouts are those of <nvtx3/nvtxDetail/nvtxTypes.h>; a test compares them
// with the header where there is one.
#pragma once

#include <cstdint>

namespace apo::nvtx {

using Function = void (*)();
using FunctionTable = Function**;
using GetExportTable = const void* (*)(std::uint32_t id);

inline constexpr std::uint32_t kCallbacks = 1;  // NVTX_ETID_CALLBACKS
enum Module : int { kCore = 1, kCore2 = 5 };
enum OfCore : unsigned { kMarkEx = 1, kMarkA = 2, kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11 };
enum OfCore2 : unsigned {
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13
};

struct CallbackTable {
  std::size_t size;
  int (*module_functions)(int module, FunctionTable* table, unsigned* count);
};

enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };

struct Attributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};

}  // namespace apo::nvtx
