// harness/worker/cuda/image.cpp - allocates the image and copies it to the GPU and back.
#include "harness/worker/cuda/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "harness/worker/cuda/module.h"

namespace apo {
namespace {

constexpr const char* kCopyThere = "cannot copy the tensors to the GPU";
constexpr const char* kCopyBack = "cannot copy the tensors back";

struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
};

// The shared tensors without the buffers that are not wanted: those that are, and all guards between.
template <class Wanted>
std::vector<Stretch> stretches(const SharedTensorsLayout& layout, Wanted wanted) {
  std::vector<Stretch> unwanted;
  for (const BufferPlace& place : layout.buffers) {
    if (!wanted(place) && place.bytes > 0) {
      unwanted.push_back({place.offset, place.offset + place.bytes});
    }
  }
  std::ranges::sort(unwanted, {}, &Stretch::begin);
  std::vector<Stretch> result;
  std::int64_t begin = 0;
  for (const Stretch& stretch : unwanted) {
    result.push_back({begin, stretch.begin});
    begin = stretch.end;
  }
  result.push_back({begin, layout.bytes});
  return result;
}

bool is_input(const BufferPlace& place) {
  return place.role == BufferRole::input;
}

bool is_in_file(const SharedTensorsLayout& layout, const BufferPlace& place) {
  return is_input(place) && !layout.is_kept(place.owner);
}

// True for what is looked at after a call on `set`.
bool is_looked_at(const BufferPlace& place, int set, bool with_inputs) {
  return place.role == BufferRole::output || (with_inputs && is_input(place) && place.owner == set);
}

}  // namespace

std::optional<Failure> CudaImage::allocate(const cuda::Driver& driver, std::int64_t bytes, cuda::Pointer& allocation) {
  if (auto failure = cuda_failure(driver, driver.allocate(&allocation, static_cast<std::size_t>(bytes)),
                                  fmt::format("cannot allocate {} bytes for the tensors", bytes))) {
    return failure;
  }
  allocations_.push_back(allocation);
  return std::nullopt;
}

std::optional<Failure> CudaImage::make(const cuda::Driver& driver, const SharedTensorsLayout& layout,
                                       const void* memory, Form form) {
  form_ = form;
  if (form == Form::pieces) {
    return make_pieces(driver, layout, static_cast<const std::byte*>(memory));
  }
  cuda::Pointer whole = 0;
  if (auto failure = allocate(driver, layout.bytes, whole)) {
    return failure;
  }
  for (const BufferPlace& place : layout.buffers) {
    addresses_.push_back(whole + static_cast<std::uint64_t>(place.offset));
  }
  for (const Stretch& stretch :
       stretches(layout, [&](const BufferPlace& place) { return is_in_file(layout, place); })) {
    const auto* from = static_cast<const std::byte*>(memory) + stretch.begin;
    const cuda::Pointer to = whole + static_cast<std::uint64_t>(stretch.begin);
    if (auto failure = cuda_failure(driver, driver.copy_to_device(to, from, stretch.bytes()), kCopyThere)) {
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<Failure> CudaImage::make_pieces(const cuda::Driver& driver, const SharedTensorsLayout& layout,
                                              const std::byte* memory) {
  for (const BufferPlace& place : layout.buffers) {
    cuda::Pointer piece = 0;
    if (place.bytes > 0) {
      if (auto failure = allocate(driver, place.bytes, piece)) {
        return failure;
      }
    }
    addresses_.push_back(piece);
    if (place.bytes == 0 || !is_in_file(layout, place)) {
      continue;
    }
    if (auto failure = cuda_failure(
            driver, driver.copy_to_device(piece, memory + place.offset, static_cast<std::size_t>(place.bytes)),
            kCopyThere)) {
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<Failure> CudaImage::copy_inputs(const cuda::Driver& driver, const SharedTensorsLayout& layout,
                                              const void* memory, int set) const {
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const BufferPlace& place = layout.buffers[i];
    if (place.bytes == 0 || !is_input(place) || place.owner != set) {
      continue;
    }
    const auto* from = static_cast<const std::byte*>(memory) + place.offset;
    if (auto failure = cuda_failure(
            driver, driver.copy_to_device(addresses_.at(i), from, static_cast<std::size_t>(place.bytes)), kCopyThere)) {
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<Failure> CudaImage::copy_back(const cuda::Driver& driver, const SharedTensorsLayout& layout, void* memory,
                                            int set, bool with_inputs) const {
  if (form_ == Form::whole) {
    const auto looked_at = [&](const BufferPlace& place) { return is_looked_at(place, set, with_inputs); };
    for (const Stretch& stretch : stretches(layout, looked_at)) {
      auto* to = static_cast<std::byte*>(memory) + stretch.begin;
      const cuda::Pointer from = allocations_.at(0) + static_cast<std::uint64_t>(stretch.begin);
      if (auto failure = cuda_failure(driver, driver.copy_to_host(to, from, stretch.bytes()), kCopyBack)) {
        return failure;
      }
    }
    return std::nullopt;
  }
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const BufferPlace& place = layout.buffers[i];
    if (place.bytes == 0 || !is_looked_at(place, set, with_inputs)) {
      continue;
    }
    if (auto failure = cuda_failure(driver,
                                    driver.copy_to_host(static_cast<std::byte*>(memory) + place.offset, addresses_[i],
                                                        static_cast<std::size_t>(place.bytes)),
                                    kCopyBack)) {
      return failure;
    }
  }
  return std::nullopt;
}

void CudaImage::free(const cuda::Driver& driver) {
  for (const cuda::Pointer allocation : allocations_) {
    driver.free(allocation);  // fails only after a sticky error, which the next call reports
  }
  allocations_.clear();
  addresses_.clear();
}

}  // namespace apo
