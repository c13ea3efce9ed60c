// harness/worker/parent/worker_profile.cpp - asks a worker for profiler reports, which arrive in a memory file.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {
namespace {

// The profiler waits up to a minute for another process that uses the counters, and repeats every launch.
constexpr std::chrono::milliseconds kProfileDeadline{180'000};

}  // namespace

// The text that the worker leaves in the memory file that the request carries.
Result<std::string> Worker::exchange_for_file(Exchange exchange) {
  constexpr off_t kMostBytes = off_t{64} << 20;
  const FileDescriptor file(memfd_create("apo-profile", MFD_CLOEXEC));
  if (!file) {
    throw EnvironmentError(std::string("cannot create shared memory for a profile: ") + std::strerror(errno));
  }
  exchange.attached_fd = file.get();
  const auto reply = this->exchange(exchange);
  if (!reply) {
    return reply.failure();
  }
  const off_t bytes = lseek(file.get(), 0, SEEK_END);
  std::string text(bytes > 0 && bytes <= kMostBytes ? static_cast<std::size_t>(bytes) : 0, '\0');
  if (text.empty() || pread(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return forged("it wrote no profile");
  }
  return text;
}

Result<CounterReport> Worker::count(const CountRequest& request, Deadline deadline) {
  const auto text = exchange_for_file(prepare(request, "counting", deadline.value_or(kProfileDeadline)));
  if (!text) {
    return text.failure();
  }
  const auto report = decode_counters(*text);
  return report ? Result<CounterReport>(*report) : forged("its counters make no sense");
}

Result<SampleReport> Worker::sample_stalls(const SampleRequest& request, Deadline deadline) {
  const auto text = exchange_for_file(prepare(request, "PC sampling", deadline.value_or(kProfileDeadline)));
  if (!text) {
    return text.failure();
  }
  const auto report = decode_samples(*text);
  return report ? Result<SampleReport>(*report) : forged("its PC samples make no sense");
}

Result<std::vector<std::string>> Worker::loaded_images(int slot, Deadline deadline) {
  const auto text = exchange_for_file(prepare(ImagesRequest{.slot = slot}, "handing over its images", deadline));
  if (!text) {
    return text.failure();
  }
  const auto images = decode_images(*text);
  return images ? Result<std::vector<std::string>>(*images) : forged("its images make no sense");
}

Result<InstructionReport> Worker::count_instructions(const InstructionRequest& request, Deadline deadline) {
  const auto text = exchange_for_file(prepare(request, "counting instructions", deadline.value_or(kProfileDeadline)));
  if (!text) {
    return text.failure();
  }
  const auto report = decode_instructions(*text);
  return report ? Result<InstructionReport>(*report) : forged("its counts of instructions make no sense");
}

}  // namespace apo
