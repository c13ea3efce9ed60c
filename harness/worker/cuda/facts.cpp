// harness/worker/cuda/facts.cpp - name, UUID and attributes of one GPU.
#include "harness/worker/cuda/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace apo {
namespace {

std::string text_of(const cuda::Uuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned>(uuid.bytes.at(i)));
    text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) ? "-" : "";
    text += hex.data();
  }
  return text;
}

}  // namespace

DeviceFacts read_device_facts(const cuda::Driver& driver, cuda::Device device, int index) {
  const auto attribute = [&](int which) {
    int value = 0;
    driver.device_attribute(&value, which, device);  // stays 0 for what an old driver does not know
    return value;
  };
  DeviceFacts facts{.index = index};
  std::array<char, 256> name{};
  driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device);
  facts.name = name.data();
  cuda::Uuid uuid{};
  driver.device_uuid(&uuid, device);
  facts.uuid = text_of(uuid);
  facts.major = attribute(cuda::kMajor);
  facts.minor = attribute(cuda::kMinor);
  facts.sms = attribute(cuda::kMultiprocessors);
  facts.threads_per_block = attribute(cuda::kThreadsPerBlock);
  facts.threads_per_sm = attribute(cuda::kThreadsPerMultiprocessor);
  facts.blocks_per_sm = attribute(cuda::kBlocksPerMultiprocessor);
  facts.shared_per_block = attribute(cuda::kSharedPerBlockOptIn);
  facts.shared_per_sm = attribute(cuda::kSharedPerMultiprocessor);
  facts.registers_per_sm = attribute(cuda::kRegistersPerMultiprocessor);
  facts.l2_bytes = attribute(cuda::kL2CacheSize);
  facts.persisting_l2_bytes =
      std::min(attribute(cuda::kPersistingL2CacheSize), attribute(cuda::kAccessPolicyWindowSize));
  facts.sm_mhz = attribute(cuda::kClockRateKhz) / 1000;
  facts.memory_mhz = attribute(cuda::kMemoryClockRateKhz) / 1000;
  std::size_t memory = 0;
  driver.device_memory(&memory, device);
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  int version = 0;
  driver.driver_version(&version);
  facts.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  return facts;
}

}  // namespace apo
