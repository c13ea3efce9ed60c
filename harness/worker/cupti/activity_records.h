// harness/worker/cupti/activity_records.h - the parts of CUPTI's records of kernels, copies and fills that a profile of
// an application reads.
//
// Every version that cupti::is_known() begins its records so; a test compares them with the header where there is one.
#pragma once

#include <array>
#include <cstdint>

namespace apo::cupti {

inline constexpr int kPeerMemcpy = 22;  // CUPTI_ACTIVITY_KIND_MEMCPY2

struct KernelRecord {
  int kind;
  std::array<char, 12> launch;
  std::uint64_t start;  // ns; 0 when CUPTI could not tell
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::array<char, 48> geometry;
  std::uint32_t correlation;  // of the call that launched it
  std::uint64_t grid;
  const char* name;  // mangled; CUPTI's own
};

struct CopyRecord {
  int kind;
  std::uint8_t direction;  // CUpti_ActivityMemcpyKind
  std::array<char, 3> memory;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

struct FillRecord {
  int kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

}  // namespace apo::cupti
