// kernels/parallel.h - spreads independent units over threads, and the first touch of memory; the result never depends
// on how many there are.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace apo {

// Calls work(unit) once for each of `units`, on at most `threads` threads (<= 0 means one).
template <class Work>
void for_each_unit(const std::vector<std::int64_t>& units, int threads, Work work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < units.size(); i = next++) {
      work(units[i]);
    }
  };
  const std::size_t helpers = std::min(units.size(), static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::jthread> pool;
  for (std::size_t i = 1; i < helpers; ++i) {
    pool.emplace_back(run);
  }
  run();
}

// Calls work(i) once for each i below `count`, likewise.
template <class Work>
void for_each_index(std::size_t count, int threads, Work work) {
  std::vector<std::int64_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  for_each_unit(indices, threads, [&](std::int64_t i) { work(static_cast<std::size_t>(i)); });
}

// Calls work(begin, end) for chunks that cover [0, count), likewise: of so many elements that a thread is worth it.
template <class Work>
void for_each_chunk(std::size_t count, int threads, Work work) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  for_each_index((count + kChunk - 1) / kChunk, threads,
                 [&](std::size_t chunk) { work(chunk * kChunk, std::min((chunk + 1) * kChunk, count)); });
}

// How many of the threads each of `count` tasks has for itself when they share them; 0 where there are more tasks.
inline int threads_of_each(int threads, std::size_t count) {
  return threads / static_cast<int>(std::max(count, std::size_t{1}));
}

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
