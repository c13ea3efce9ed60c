// harness/executor/source_line.cpp - maps a code address to file and line by the object's debug information.
#include <fmt/format.h>

#include <cstdint>
#include <mutex>
#include <string_view>

#include "harness/executor/finding.h"

// Declares libbacktrace, whose header lies in a folder that only GCC searches.
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void* data, const char* message, int error);
using backtrace_full_callback = int (*)(void* data, std::uintptr_t pc, const char* file, int line,
                                        const char* function);
backtrace_state* backtrace_create_state(const char* file, int threaded, backtrace_error_callback on_error, void* data);
int backtrace_pcinfo(backtrace_state* state, std::uintptr_t pc, backtrace_full_callback on_frame,
                     backtrace_error_callback on_error, void* data);
}

namespace apo::executor {
namespace {

struct Frame {
  std::string place;
};

// Called for the innermost inlined function first; 0 asks for the one around it.
int on_frame(void* data, std::uintptr_t, const char* file, int line, const char* function) {
  if (file == nullptr) {
    return 0;
  }
  // The headers that stand in for CUDA are named from this folder.
  if (std::string_view(file).find("executor/device/") != std::string_view::npos) {
    return 0;
  }
  static_cast<Frame*>(data)->place = name_of({file, line});
  // What copies a struct stands at the line of its type.
  const std::string_view name = function == nullptr ? "" : function;
  for (const char* copies : {"C4ERKS", "C4EOS", "aSERKS", "aSEOS"}) {
    if (name.find(copies) != std::string_view::npos) {
      return 0;
    }
  }
  return 1;
}

void on_error(void*, const char*, int) {}

}  // namespace

std::string name_of(const apo_cpu::Line& line) {
  const std::string_view path = line.file;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line.number);
}

std::string source_line(const void* code) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // A new state each time sees the objects that have been loaded since. It is never freed, and asked for once a
  // finding.
  backtrace_state* state = backtrace_create_state(nullptr, 0, on_error, nullptr);
  Frame frame;
  // A return address is the instruction after the call.
  backtrace_pcinfo(state, reinterpret_cast<std::uintptr_t>(code) - 1, on_frame, on_error, &frame);
  return frame.place.empty() ? "an unknown line" : frame.place;
}

}  // namespace apo::executor
