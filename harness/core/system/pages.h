// harness/core/system/pages.h - has the system hand out memory before it is used: at once, and on several threads.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/parallel.h"

namespace apo {

// Maps the pages of memory that begins at one, where the system can do that at once.
inline void have_pages([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::int64_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  madvise(memory, static_cast<std::size_t>(bytes), MADV_POPULATE_WRITE);  // only saves time: an older system refuses
#endif
}

// Returns so many zeros.
inline std::vector<std::byte> zero_bytes(std::size_t count, int threads) {
  constexpr std::size_t kPage = 4096;
  std::vector<std::byte> bytes;
  bytes.reserve(count);
  void* first = bytes.data();
  std::size_t room = count;
  if (std::align(kPage, 1, first, room) != nullptr) {
    for_each_chunk(room / kPage * kPage, threads, [&](std::size_t begin, std::size_t end) {
      have_pages(static_cast<std::byte*>(first) + begin, static_cast<std::int64_t>(end - begin));
    });
  }
  bytes.resize(count);
  return bytes;
}

}  // namespace apo
