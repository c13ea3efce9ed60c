// harness/worker/cuda_image.cpp - allocate, copy there, copy back.
#include "harness/worker/cuda_image.h"

#include <string>

#include "harness/worker/cuda_module.h"

namespace apo {
namespace {

constexpr const char* kCopyThere = "cannot copy the tensors to the GPU";
constexpr const char* kCopyBack = "cannot copy the tensors back";

}  // namespace

std::optional<Failure> CudaImage::allocate(const cuda::Driver& driver, std::int64_t bytes, cuda::Pointer& allocation) {
  if (auto failure = cuda_failure(driver, driver.allocate(&allocation, static_cast<std::size_t>(bytes)),
                                  "cannot allocate " + std::to_string(bytes) + " bytes for the tensors")) {
    return failure;
  }
  allocations_.push_back(allocation);
  return std::nullopt;
}

std::optional<Failure> CudaImage::make(const cuda::Driver& driver, const ArenaLayout& layout, const void* memory,
                                       Form form) {
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
  return cuda_failure(driver, driver.copy_to_device(whole, memory, static_cast<std::size_t>(layout.bytes)), kCopyThere);
}

std::optional<Failure> CudaImage::make_pieces(const cuda::Driver& driver, const ArenaLayout& layout,
                                              const std::byte* memory) {
  for (const BufferPlace& place : layout.buffers) {
    cuda::Pointer piece = 0;
    if (place.bytes > 0) {
      if (auto failure = allocate(driver, place.bytes, piece)) {
        return failure;
      }
    }
    addresses_.push_back(piece);
    if (place.bytes == 0 || place.role != BufferRole::input) {
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

std::optional<Failure> CudaImage::copy_back(const cuda::Driver& driver, const ArenaLayout& layout, void* memory) const {
  if (form_ == Form::whole) {
    return cuda_failure(driver, driver.copy_to_host(memory, allocations_.at(0), static_cast<std::size_t>(layout.bytes)),
                        kCopyBack);
  }
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const BufferPlace& place = layout.buffers[i];
    if (place.bytes == 0 || place.role == BufferRole::scratch) {
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
