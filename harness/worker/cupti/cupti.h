// harness/worker/cupti/cupti.h - CUPTI loaded on demand, and the part of its Activity API that is used, declared here.
//
// The program builds and starts without CUPTI. Names, values and layouts are those of <cupti.h>; a test compares them
// with the header where there is one.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// The common begin of the records of kernels, copies and fills in every version that is_known().
struct TimedRecord {
  int kind;
  std::array<char, 12> unused;
  std::uint64_t start;  // ns; 0 when CUPTI could not tell
  std::uint64_t end;
};

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
using EnableCallback = Result (*)(std::uint32_t enable, Subscriber subscriber, int domain, std::uint32_t id);

struct Library {
  std::string path;        // where it was found
  void* handle = nullptr;  // for the functions of cupti_profiler.h and cupti_sampling.h
  std::uint32_t version = 0;

  Result (*get_version)(std::uint32_t* version);
  Result (*result_string)(Result result, const char** text);
  Result (*subscribe)(Subscriber* subscriber, Callback callback, void* user);
  Result (*unsubscribe)(Subscriber subscriber);
  Result (*enable_domain)(std::uint32_t enable, Subscriber subscriber, int domain);
  Result (*register_callbacks)(RequestBuffer request, CompleteBuffer complete);
  Result (*enable)(int kind);
  Result (*disable)(int kind);
  Result (*flush_all)(std::uint32_t flag);
  Result (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes, RecordBytes* record);
  Result (*dropped_records)(Context context, std::uint32_t stream, std::size_t* dropped);
};

// True when the layout above holds for the version that cuptiGetVersion returned: CUDA 12.0 to 13.x.
bool is_known(std::uint32_t version);

// The names that dlopen tries, in order: APO_CUPTI_LIBRARY alone when it is set; else the folders of CUDA_HOME,
// CUDA_PATH and /usr/local/cuda, then the names that the system's loader may know.
std::vector<std::string> library_paths();

// Returns nullptr and one sentence when CUPTI is missing. It is never unloaded: CUPTI may have threads.
std::unique_ptr<const Library> load_library(std::string& missing);

// Sets `function` to the function of that name. Returns false, with one sentence in `missing`, when the library has
// none.
template <class Function>
bool find_function(void* library, Function& function, const char* name, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    missing = std::string("it has no ") + name;
  }
  return function != nullptr;
}

// Returns a name such as "CUPTI_ERROR_NOT_INITIALIZED".
std::string describe(const Library& library, Result result);

}  // namespace apo::cupti
