// harness/worker/parent/worker_loading.cpp - gives a worker what it runs: objects under neutral names, tensors, and
// memory.
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <utility>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"

namespace apo {

std::int64_t Worker::address_space_limit() const {
  if (options_.memory_limit_bytes <= 0 || !options_.preload.empty() || options_.target == Target::cuda) {
    return 0;  // AddressSanitizer and the CUDA driver need terabytes of it
  }
  return own_address_space_ + options_.memory_limit_bytes + tensors_bytes_ +
         2 * static_cast<std::int64_t>(kTensorsReserve);
}

// The soft limit, which the candidate is not allowed to change.
void Worker::limit_memory() const {
  if (const std::int64_t bytes = address_space_limit(); bytes > 0 && alive()) {
    const rlimit limit{.rlim_cur = static_cast<rlim_t>(bytes), .rlim_max = RLIM_INFINITY};
    prlimit(pid(), RLIMIT_AS, &limit, nullptr);  // fails when it has just ended, or under a lower limit of our own
  }
}

// A path of the same length for both slots. A new one for every load: the old file may still be mapped.
std::filesystem::path Worker::neutral_path(int slot) {
  std::array<char, 8> generation{};
  std::snprintf(generation.data(), generation.size(), "%04u", loads_.at(static_cast<std::size_t>(slot))++ % 10'000);
  const std::filesystem::path folder = folder_.path() / generation.data();
  std::filesystem::create_directories(folder);
  return folder / fmt::format("slot{}.so", slot);
}

Result<Done> Worker::load(int slot, const std::filesystem::path& object, const LaunchPlan& plan, Deadline deadline) {
  APO_CHECK(slot == 0 || slot == 1);
  const std::filesystem::path neutral = neutral_path(slot);
  std::error_code error;
  std::filesystem::copy_file(object, neutral, std::filesystem::copy_options::overwrite_existing, error);
  if (const auto companions = object.parent_path() / kCompanions; !error && std::filesystem::exists(companions)) {
    // One that is there has the same content, of which it is named, and may be mapped.
    std::filesystem::copy(companions, neutral.parent_path() / kCompanions,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing,
                          error);
  }
  if (error) {
    throw EnvironmentError("cannot copy '" + object.string() + "' to '" + neutral.string() + "': " + error.message());
  }
  limit_memory();
  if (options_.target == Target::host || plan.library) {
    code_.expect(neutral);
  }
  const auto reply =
      exchange(prepare(LoadRequest{.slot = slot, .path = neutral.string(), .plan = plan}, "loading", deadline));
  if (!reply) {
    return reply.failure();
  }
  confinement_ = reply->confinement;
  return Done{};
}

// Our own copying, with nothing of a candidate in it: a gigabyte a second is slow for any bus.
std::chrono::milliseconds Worker::copying(std::int64_t bytes) const {
  constexpr std::int64_t kBytesPerMs = 1'000'000;
  return options_.deadline + std::chrono::milliseconds(bytes / kBytesPerMs);
}

Result<std::string> Worker::keep(std::int64_t bytes, int fd, Deadline deadline) {
  Exchange keep = prepare(KeepRequest{.bytes = bytes}, "keeping inputs on the GPU", deadline.value_or(copying(bytes)));
  keep.attached_fd = fd;
  const auto reply = exchange(std::move(keep));
  if (!reply) {
    return reply.failure();
  }
  return reply->kept;
}

Result<Done> Worker::attach(const SharedTensorsLayout& layout, int fd, Deadline deadline) {
  tensors_bytes_ = layout.file_bytes();
  limit_memory();
  Exchange attach =
      prepare(AttachRequest{.layout = layout}, "attaching the tensors", deadline.value_or(copying(tensors_bytes_)));
  attach.attached_fd = fd;
  const auto reply = exchange(std::move(attach));
  if (!reply) {
    return reply.failure();
  }
  tensors_base_ = reply->base;
  return Done{};
}

}  // namespace apo
