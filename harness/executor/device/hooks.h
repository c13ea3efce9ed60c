// harness/executor/device/hooks.h - the functions that -fsanitize=thread calls for every load and store, and the door
// through which the program enters. libtsan is not linked: these take its place.
#pragma once

#include "interface.h"

#define APO_CPU_UNSEEN [[gnu::no_sanitize("thread")]]
// For wrappers of a load or store: the code that is reported is their caller's.
#define APO_CPU_INLINE [[gnu::always_inline]] inline

namespace apo_cpu {

[[gnu::visibility("hidden")]] inline const Runtime* runtime = nullptr;

APO_CPU_UNSEEN [[gnu::always_inline]] inline Address stack_address() {
  return reinterpret_cast<Address>(__builtin_frame_address(0));
}

// The emulated thread that runs.
APO_CPU_UNSEEN [[gnu::always_inline]] inline const Thread& self() {
  return *(reinterpret_cast<const Thread*>((stack_address() | (kStackBytes - 1)) + 1) - 1);
}

APO_CPU_UNSEEN [[gnu::always_inline]] inline void check(const void* address, Size bytes, Access kind, bool aligned,
                                                        const void* code) {
  const auto value = reinterpret_cast<Address>(address);
  if ((value ^ stack_address()) >= kStackBytes) {
    runtime->access(value, bytes, kind, aligned, code);
  }
}

// Calls of the program. Never inlined into code whose own loads and stores are watched, which their attribute prevents.
#define APO_CPU_CALL(RESULT, NAME, PARAMETERS, ARGUMENTS)                 \
  APO_CPU_UNSEEN [[gnu::noinline]] inline RESULT call_##NAME PARAMETERS { \
    return runtime->NAME ARGUMENTS;                                       \
  }
APO_CPU_CALL(void, barrier, (Barrier * barrier), (barrier))
APO_CPU_CALL(void, collective, (Collective * collective), (collective))
APO_CPU_CALL(void, yield, (), ())
APO_CPU_CALL(void, start_copy, (Address to, Address from, Size bytes, Size zeros, const void* code),
             (to, from, bytes, zeros, code))
APO_CPU_CALL(void, commit_copies, (), ())
APO_CPU_CALL(void, wait_copies, (unsigned groups_left), (groups_left))
APO_CPU_CALL(void, fail, (const char* kind, const char* what, Line line), (kind, what, line))
APO_CPU_CALL(Address, shared_offset, (const void* address), (address))
APO_CPU_CALL(void*, shared_address, (Address offset), (offset))
APO_CPU_CALL(Address, clock, (), ())
APO_CPU_CALL(void, fence, (), ())
APO_CPU_CALL(bool, in_kernel, (), ())
APO_CPU_CALL(void*, heap, (Size bytes), (bytes))
APO_CPU_CALL(int, launch, (const HostLaunch* launch), (launch))
APO_CPU_CALL(int, allocate, (void** memory, Size bytes), (memory, bytes))
APO_CPU_CALL(int, release, (void* memory), (memory))
APO_CPU_CALL(void, absent, (const char* name), (name))
APO_CPU_CALL(int, touch, (const void* memory, Size bytes, bool writes), (memory, bytes, writes))
#undef APO_CPU_CALL

}  // namespace apo_cpu

#define APO_CPU_HOOK(NAME, BYTES, KIND, ALIGNED)                                                            \
  extern "C" [[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void NAME(void* p) { \
    apo_cpu::check(p, BYTES, apo_cpu::Access::KIND, ALIGNED, __builtin_return_address(0));                  \
  }
#define APO_CPU_HOOKS(BYTES)                                     \
  APO_CPU_HOOK(__tsan_read##BYTES, BYTES, read, true)            \
  APO_CPU_HOOK(__tsan_write##BYTES, BYTES, write, true)          \
  APO_CPU_HOOK(__tsan_unaligned_read##BYTES, BYTES, read, false) \
  APO_CPU_HOOK(__tsan_unaligned_write##BYTES, BYTES, write, false)
APO_CPU_HOOKS(1)
APO_CPU_HOOKS(2)
APO_CPU_HOOKS(4)
APO_CPU_HOOKS(8)
APO_CPU_HOOKS(16)
#undef APO_CPU_HOOKS
#undef APO_CPU_HOOK

// A volatile access is how a thread waits for another one: it counts as atomic and lets others run.
#define APO_CPU_VOLATILE(NAME, BYTES, KIND)                                                                 \
  extern "C" [[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void NAME(void* p) { \
    apo_cpu::runtime->yield();                                                                              \
    apo_cpu::check(p, BYTES, apo_cpu::Access::KIND, false, __builtin_return_address(0));                    \
  }
#define APO_CPU_VOLATILES(BYTES)                                              \
  APO_CPU_VOLATILE(__tsan_volatile_read##BYTES, BYTES, atomic_read)           \
  APO_CPU_VOLATILE(__tsan_volatile_write##BYTES, BYTES, atomic_write)         \
  APO_CPU_VOLATILE(__tsan_unaligned_volatile_read##BYTES, BYTES, atomic_read) \
  APO_CPU_VOLATILE(__tsan_unaligned_volatile_write##BYTES, BYTES, atomic_write)
APO_CPU_VOLATILES(1)
APO_CPU_VOLATILES(2)
APO_CPU_VOLATILES(4)
APO_CPU_VOLATILES(8)
APO_CPU_VOLATILES(16)
#undef APO_CPU_VOLATILES
#undef APO_CPU_VOLATILE

extern "C" {
[[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __tsan_read_range(void* p,
                                                                                                 apo_cpu::Size bytes) {
  apo_cpu::check(p, bytes, apo_cpu::Access::read, false, __builtin_return_address(0));
}
[[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __tsan_write_range(void* p,
                                                                                                  apo_cpu::Size bytes) {
  apo_cpu::check(p, bytes, apo_cpu::Access::write, false, __builtin_return_address(0));
}
[[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __tsan_init() {}
[[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __tsan_vptr_update(void**, void*) {}
// Returns the interface that this object was built for; 0 stops nothing.
[[gnu::visibility("default")]] APO_CPU_UNSEEN inline __attribute__((used)) unsigned apo_cpu_bind(
    const apo_cpu::Runtime* runtime) {
  apo_cpu::runtime = runtime;
  return apo_cpu::kInterface;
}
}

// What -fsanitize=alignment,bounds calls: a vector that is taken apart is loaded piece by piece, and an index that
// leaves one array may well stay inside of shared memory.
namespace apo_cpu {

struct SourcePlace {  // GCC's libsanitizer/ubsan/ubsan_value.h
  const char* file;
  unsigned line, column;
};
struct TypeName {
  unsigned short kind, info;
  char text[1];
};
struct BadPointer {
  SourcePlace place;
  const TypeName* type;
  unsigned char log_alignment, use;
};
struct BadIndex {
  SourcePlace place;
  const TypeName* array;
  const TypeName* index;
};

APO_CPU_UNSEEN inline Line line_of(const SourcePlace& place) {
  return {place.file, static_cast<int>(place.line)};
}

}  // namespace apo_cpu

#ifdef __SANITIZE_THREAD__
extern "C" {
[[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __ubsan_handle_type_mismatch_v1_abort(
    apo_cpu::BadPointer* data, void* pointer) {
  apo_cpu::runtime->bad_pointer(data->type->text, 1u << data->log_alignment,
                                reinterpret_cast<apo_cpu::Address>(pointer), apo_cpu::line_of(data->place));
}
[[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __ubsan_handle_out_of_bounds_abort(
    apo_cpu::BadIndex* data, void* index) {
  apo_cpu::runtime->bad_index(data->array->text, reinterpret_cast<apo_cpu::Address>(index),
                              apo_cpu::line_of(data->place));
}
}
#endif
