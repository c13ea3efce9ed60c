// harness/executor/global_memory.cpp - finds the nearest buffer and checks bounds, rights and initialisation.
#include "harness/executor/global_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace apo::executor {

using apo_cpu::Access;

GlobalMemory::GlobalMemory(std::vector<Buffer> buffers, std::uintptr_t tensors_begin, std::uintptr_t tensors_end)
    : buffers_(std::move(buffers)), begin_(tensors_begin), end_(tensors_end) {
  std::ranges::sort(buffers_, {}, &Buffer::begin);
  for (const Buffer& buffer : buffers_) {
    written_.push_back(buffer.written ? nullptr : std::make_unique<unsigned char[]>(buffer.bytes));
  }
}

// The buffer that holds the address, else the last one before it, else the first.
std::size_t GlobalMemory::find(std::uintptr_t address) const {
  const auto after = std::ranges::upper_bound(buffers_, address, {}, &Buffer::begin);
  return after == buffers_.begin() ? 0 : static_cast<std::size_t>(after - buffers_.begin()) - 1;
}

std::optional<GlobalMistake> GlobalMemory::outside(const Buffer& buffer, std::uintptr_t address,
                                                   std::size_t bytes) const {
  const std::uintptr_t end = buffer.begin + buffer.bytes;
  const auto next = std::ranges::upper_bound(buffers_, address, {}, &Buffer::begin);
  if (next != buffers_.end() && (address < buffer.begin || next->begin - address < address - end)) {
    return GlobalMistake{"out-of-bounds access", fmt::format("it touches {} bytes that begin {} bytes before {}", bytes,
                                                             next->begin - address, next->name)};
  }
  return GlobalMistake{"out-of-bounds access", fmt::format("it touches {} bytes at byte {} of {}, which has {}", bytes,
                                                           address - buffer.begin, buffer.name, buffer.bytes)};
}

std::optional<GlobalMistake> GlobalMemory::access(std::uintptr_t address, std::size_t bytes, Access kind,
                                                  std::size_t& hint) {
  if (address - buffers_[hint].begin >= buffers_[hint].bytes) {
    hint = find(address);
  }
  const Buffer& buffer = buffers_[hint];
  const std::uintptr_t offset = address - buffer.begin;
  if (offset >= buffer.bytes || buffer.bytes - offset < bytes) {
    return outside(buffer, address, bytes);
  }
  if (writes(kind) && !buffer.writable) {
    return GlobalMistake{"write to an input", fmt::format("it writes byte {} of {}, an input", offset, buffer.name)};
  }
  unsigned char* written = written_[hint].get();
  if (written == nullptr) {
    return std::nullopt;
  }
  if (reads(kind) && std::memchr(written + offset, 0, bytes) != nullptr) {
    return GlobalMistake{"uninitialised read",
                         fmt::format("it reads {} bytes at byte {} of {}, which nobody has written in this call", bytes,
                                     offset, buffer.name)};
  }
  if (writes(kind)) {
    std::memset(written + offset, 1, bytes);
  }
  return std::nullopt;
}

}  // namespace apo::executor
