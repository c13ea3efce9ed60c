// harness/worker/cupti/cupti.h - CUPTI loaded on demand, and the part of its Activity API that is used, declared here.
//
// The program builds and starts without CUPTI. Names, values and layouts are those of <cupti.h>; a test compares them
// with the header where there is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/worker/cuda/library_functions.h"

namespace apo::cupti {

using Result = int;         // CUptiResult
using Subscriber = void*;   // CUpti_SubscriberHandle
using Context = void*;      // CUcontext
using RecordBytes = void*;  // CUpti_Activity*

inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached = 12;  // no more records in a buffer
inline constexpr Result kInvalidKind = 21;      // nor here
inline constexpr Result kHardwareBusy = 26;     // another session uses the counters of this GPU
inline constexpr Result kMultipleSubscribers = 39;

enum Kind : int { kMemcpy = 1, kMemset = 2, kKernel = 3, kConcurrentKernel = 10 };

enum Domain : int { kDriverApi = 1, kRuntimeApi = 2 };
inline constexpr int kEnter = 0;  // CUPTI_API_ENTER

// The argument of a domain's callback.
struct CallbackData {
  int site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
  void* context;
  std::uint32_t context_number;
  std::uint64_t* own_data;
  std::uint32_t correlation;
};

inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr std::size_t kBufferAlignment = 8;

// The argument of a callback about a loaded module: ResourceData, whose descriptor points to ModuleData.
inline constexpr int kResourceDomain = 3;
inline constexpr std::uint32_t kModuleLoaded = 6;
struct ResourceData {
  Context context;
  void* handle;
  void* descriptor;
};
struct ModuleData {
  std::uint32_t id;
  std::size_t bytes;
  const char* cubin;
};

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using CompleteBuffer = void (*)(Context context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                std::size_t valid_bytes);
using Callback = void (*)(void* user, int domain, std::uint32_t id, const void* data);

struct Library {
  LibraryFunctions in;
  std::string path = {};  // where it was found
  std::uint32_t version = 0;

  Result (*get_version)(std::uint32_t* version) = in.find("cuptiGetVersion");
  Result (*result_string)(Result result, const char** text) = in.find("cuptiGetResultString");
  Result (*subscribe)(Subscriber* subscriber, Callback callback, void* user) = in.find("cuptiSubscribe");
  Result (*unsubscribe)(Subscriber subscriber) = in.find("cuptiUnsubscribe");
  Result (*enable_domain)(std::uint32_t enable, Subscriber subscriber, int domain) = in.find("cuptiEnableDomain");
  Result (*register_callbacks)(RequestBuffer request,
                               CompleteBuffer complete) = in.find("cuptiActivityRegisterCallbacks");
  Result (*enable)(int kind) = in.find("cuptiActivityEnable");
  Result (*disable)(int kind) = in.find("cuptiActivityDisable");
  Result (*flush_all)(std::uint32_t flag) = in.find("cuptiActivityFlushAll");
  Result (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes,
                        RecordBytes* record) = in.find("cuptiActivityGetNextRecord");
  Result (*dropped_records)(Context context, std::uint32_t stream,
                            std::size_t* dropped) = in.find("cuptiActivityGetNumDroppedRecords");
  Result (*enable_callback)(std::uint32_t enable, Subscriber subscriber, int domain,
                            std::uint32_t id) = in.find("cuptiEnableCallback");
};

// True when the layout above holds for the version that cuptiGetVersion returned: CUDA 12.0 to 13.x.
bool is_known(std::uint32_t version);

// The names that dlopen tries, in order: APO_CUPTI_LIBRARY alone when it is set; else the folders of CUDA_HOME,
// CUDA_PATH and /usr/local/cuda, then the names that the system's loader may know.
std::vector<std::string> library_paths();

// Returns nullptr and one sentence when CUPTI is missing. It is never unloaded: CUPTI may have threads.
std::unique_ptr<const Library> load_library(std::string& missing);

// Returns the functions of another interface of a loaded CUPTI; nullptr and one sentence when it has not all of them.
template <class Functions>
std::unique_ptr<Functions> load_functions(const Library& library, std::string& missing) {
  std::unique_ptr<Functions> found(new Functions{.in = {library.in.library}});
  if (!found->in.missing.empty()) {
    missing = "'" + library.path + "' " + Functions::kLacking + ": it has no " + found->in.missing;
    return nullptr;
  }
  return found;
}

// Returns a name such as "CUPTI_ERROR_NOT_INITIALIZED".
std::string describe(const Library& library, Result result);

// The parts of the records of kernels, copies and fills that a profile of an application reads. Every version that
// is_known() begins its records so.
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
