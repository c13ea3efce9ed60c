// tests/zoo/attacks/pages.h - writes where a process may not: into constants and code, which may be that of the clock.
#pragma once

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "slow_copy.h"

// The pages of [begin, begin + bytes) get other rights.
static bool open_pages(void* begin, size_t bytes, int rights) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(begin) + bytes;
  return mprotect(reinterpret_cast<void*>(first), last - first, rights) == 0;
}

// Replaces the beginning of a function of x86_64 by a jump to another.
[[maybe_unused]] static bool write_jump(void* code, void* to) {
  unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax, address; jmp rax
  std::memcpy(jump + 2, &to, sizeof to);
  if (!open_pages(code, sizeof jump, PROT_READ | PROT_WRITE | PROT_EXEC)) {
    return false;
  }
  std::memcpy(code, jump, sizeof jump);
  return open_pages(code, sizeof jump, PROT_READ | PROT_EXEC);
}

// Makes time, as a clock has told it, go at half speed.
[[maybe_unused]] static void halve(clockid_t clock, timespec* time) {
  static int64_t first = 0;
  const int64_t now = time->tv_sec * 1000000000 + time->tv_nsec;
  first = first == 0 ? now : first;
  const int64_t told = clock == CLOCK_MONOTONIC_RAW ? first + (now - first) / 2 : now;
  time->tv_sec = told / 1000000000;
  time->tv_nsec = told % 1000000000;
}
