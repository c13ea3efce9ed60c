// harness/worker/cuda/nvml.cpp - loads libnvidia-ml.so.1 by name; the values are those of <nvml.h>.
#include "harness/worker/cuda/nvml.h"

#include <dlfcn.h>

#include <array>

namespace apo {
namespace {

constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;

}  // namespace

struct Nvml::Functions {
  LibraryFunctions in;
  int (*init)() = in.find("nvmlInit_v2");
  int (*driver_version)(char* text, unsigned length) = in.find("nvmlSystemGetDriverVersion");
  int (*device_by_uuid)(const char* uuid, void** device) = in.find("nvmlDeviceGetHandleByUUID");
  int (*clock)(void* device, int type, unsigned* mhz) = in.find("nvmlDeviceGetClockInfo");
  int (*throttle_reasons)(void* device,
                          unsigned long long* bits) = in.find("nvmlDeviceGetCurrentClocksThrottleReasons");
  int (*temperature)(void* device, int sensor, unsigned* celsius) = in.find("nvmlDeviceGetTemperature");
  int (*power)(void* device, unsigned* milliwatts) = in.find("nvmlDeviceGetPowerUsage");
};

Nvml::Nvml(const std::string& uuid) {
  static const Functions functions{.in = {dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)}};
  if (functions.in.missing.empty() && functions.init() == 0 && functions.device_by_uuid(uuid.c_str(), &device_) == 0) {
    functions_ = &functions;
  }
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  const bool known = functions_ != nullptr && functions_->driver_version(text.data(), text.size()) == 0;
  return known ? text.data() : "";
}

std::optional<DeviceState> Nvml::state() const {
  unsigned mhz = 0;
  unsigned celsius = 0;
  unsigned milliwatts = 0;
  unsigned long long bits = 0;
  if (functions_ == nullptr || functions_->clock(device_, kClockSm, &mhz) != 0 ||
      functions_->throttle_reasons(device_, &bits) != 0) {
    return std::nullopt;
  }
  functions_->temperature(device_, kTemperatureGpu, &celsius);  // stays 0 where the board has no sensor
  functions_->power(device_, &milliwatts);                      // likewise
  return DeviceState{.sm_mhz = static_cast<int>(mhz),
                     .throttle_bits = bits,
                     .celsius = static_cast<int>(celsius),
                     .watts = static_cast<int>(milliwatts / 1000)};
}

}  // namespace apo
