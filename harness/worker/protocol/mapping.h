// harness/worker/protocol/mapping.h - maps the shared tensors' memory file at any address.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace apo {

class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { reset(); }
  // Replaces the earlier mapping. On failure it returns false with errno set, and nothing is mapped.
  bool map(int fd, std::int64_t bytes) {
    reset();
    size_ = static_cast<std::size_t>(bytes);
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory_ != MAP_FAILED;
  }
  // Has the pages of these bytes at hand, where the system can do that at once; they are what they were.
  void touch(std::int64_t offset, std::int64_t bytes) const {
#if defined(MADV_POPULATE_WRITE)
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    const std::int64_t begin = offset / page * page;
    madvise(static_cast<std::byte*>(memory_) + begin, static_cast<std::size_t>(offset + bytes - begin),
            MADV_POPULATE_WRITE);  // only saves time: an older system refuses
#endif
  }
  bool mapped() const {
    return memory_ != MAP_FAILED;
  }
  void* memory() const {
    return memory_;
  }
  std::size_t size() const {
    return size_;
  }

 private:
  void reset() {
    if (memory_ != MAP_FAILED) {
      munmap(memory_, size_);
      memory_ = MAP_FAILED;
    }
  }
  void* memory_ = MAP_FAILED;
  std::size_t size_ = 0;
};

}  // namespace apo
