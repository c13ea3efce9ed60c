// harness/injection/nvtx_ranges.cpp - receives an application's NVTX calls when threads enter and leave ranges.
#include <new>
#include <string>
#include <string_view>

#include "harness/injection/nvtx_tool.h"
#include "harness/injection/session.h"

namespace apo {
namespace {

// Wide texts of names are ASCII nearly always; what is not becomes a question mark.
std::string narrow(const wchar_t* text) {
  std::string narrowed;
  for (; text != nullptr && *text != L'\0' && narrowed.size() < kMostRangeName; ++text) {
    narrowed += *text > 0 && *text < 0x80 ? static_cast<char>(*text) : '?';
  }
  return narrowed;
}

// Out of memory: this range is not told apart from the one that holds it, and its pop ends that one too early.
int push_range(const void* domain, std::string_view name) {
  int depth = -1;
  as_guest([&] {
    Session& self = session();
    depth = self.ranges.push(domain, name.empty() ? "(no name)" : name);
    watch_launches(self);
    CallRecorder::enter_range(name);
  });
  return depth;
}

std::string message_of(const nvtx::Attributes* attributes) {
  if (attributes == nullptr || attributes->message == nullptr) {
    return "";
  }
  switch (attributes->message_type) {
    case nvtx::kAscii:
      return static_cast<const char*>(attributes->message);
    case nvtx::kUnicode:
      return narrow(static_cast<const wchar_t*>(attributes->message));
    case nvtx::kRegistered:
      return *static_cast<const std::string*>(attributes->message);
    default:
      return "";
  }
}

int push_attributes(const void* domain, const nvtx::Attributes* attributes) {
  int depth = -1;
  as_guest([&] { depth = push_range(domain, message_of(attributes)); });
  return depth;
}
void mark_ascii(const char* text) {
  as_guest([&] { CallRecorder::name_memory(text == nullptr ? "" : text); });
}
void mark_ex(const nvtx::Attributes* attributes) {
  as_guest([&] { CallRecorder::name_memory(message_of(attributes)); });
}

int push_ex(const nvtx::Attributes* attributes) {
  return push_attributes(nullptr, attributes);
}
int push_ascii(const char* name) {
  return push_range(nullptr, name == nullptr ? "" : name);
}
int push_wide(const wchar_t* name) {
  return push_range(nullptr, narrow(name));
}
int pop_range(const void* domain) {
  as_guest([] { CallRecorder::leave_range(); });  // out of memory: the call is lost, and the exit handler says so
  return session().ranges.pop(domain);
}
int pop() {
  return pop_range(nullptr);
}
int domain_push(const void* domain, const nvtx::Attributes* attributes) {
  return push_attributes(domain, attributes);
}
int domain_pop(const void* domain) {
  return pop_range(domain);
}

// A registered text, or a domain, is known by its address. They live as long as the process.
const void* keep_text(const std::string& text) {
  return new (std::nothrow) std::string(text);
}
const void* register_ascii(const void*, const char* text) {
  return keep_text(text == nullptr ? "" : text);
}
const void* register_wide(const void*, const wchar_t* text) {
  return keep_text(narrow(text));
}
const void* create_domain(const char* name) {
  return keep_text(name == nullptr ? "" : name);
}
const void* create_domain_wide(const wchar_t* name) {
  return keep_text(narrow(name));
}

template <class Callback>
void set(nvtx::FunctionTable table, unsigned count, unsigned id, Callback callback) {
  if (id < count && table[id] != nullptr) {
    *table[id] = reinterpret_cast<nvtx::Function>(callback);
  }
}

bool take_over_ranges(const nvtx::CallbackTable& callbacks) {
  nvtx::FunctionTable core = nullptr;
  nvtx::FunctionTable core2 = nullptr;
  unsigned of_core = 0;
  unsigned of_core2 = 0;
  if (callbacks.module_functions(nvtx::kCore, &core, &of_core) == 0 ||
      callbacks.module_functions(nvtx::kCore2, &core2, &of_core2) == 0) {
    return false;
  }
  set(core, of_core, nvtx::kMarkEx, mark_ex);
  set(core, of_core, nvtx::kMarkA, mark_ascii);
  set(core, of_core, nvtx::kRangePushEx, push_ex);
  set(core, of_core, nvtx::kRangePushA, push_ascii);
  set(core, of_core, nvtx::kRangePushW, push_wide);
  set(core, of_core, nvtx::kRangePop, pop);
  set(core2, of_core2, nvtx::kDomainRangePushEx, domain_push);
  set(core2, of_core2, nvtx::kDomainRangePop, domain_pop);
  set(core2, of_core2, nvtx::kDomainRegisterStringA, register_ascii);
  set(core2, of_core2, nvtx::kDomainRegisterStringW, register_wide);
  set(core2, of_core2, nvtx::kDomainCreateA, create_domain);
  set(core2, of_core2, nvtx::kDomainCreateW, create_domain_wide);
  return true;
}

}  // namespace
}  // namespace apo

// What an application's NVTX calls at its first range; 0 means that there is no tool.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(apo::nvtx::GetExportTable get_table) {
  const auto* const callbacks =
      get_table == nullptr ? nullptr : static_cast<const apo::nvtx::CallbackTable*>(get_table(apo::nvtx::kCallbacks));
  const bool usable = callbacks != nullptr && callbacks->size >= sizeof *callbacks;
  return usable && apo::take_over_ranges(*callbacks) ? 1 : 0;
}
