// harness/worker/code/module_watch.cpp - receives CUPTI's callback for loaded modules.
#include "harness/worker/code/module_watch.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>

namespace apo {
namespace {

constexpr std::size_t kMostModules = 64;

// The driver calls from whatever thread loads, up to the end of the process: therefore this is never destroyed.
struct Loaded {
  std::mutex mutex;
  std::unique_ptr<const cupti::Library> cupti;
  std::vector<std::string> images;  // each once
};

Loaded& loaded() {
  static auto* const kLoaded = new Loaded;
  return *kLoaded;
}

void on_module(void*, int domain, std::uint32_t id, const void* data) {
  if (domain != cupti::kResourceDomain || id != cupti::kModuleLoaded || data == nullptr) {
    return;
  }
  const auto* module = static_cast<const cupti::ModuleData*>(static_cast<const cupti::ResourceData*>(data)->descriptor);
  if (module == nullptr || module->cubin == nullptr || module->bytes == 0) {
    return;
  }
  try {
    std::string image(module->cubin, module->bytes);
    Loaded& to = loaded();
    const std::lock_guard lock(to.mutex);
    if (to.images.size() < kMostModules && std::ranges::find(to.images, image) == to.images.end()) {
      to.images.push_back(std::move(image));
    }
  } catch (const std::exception&) {
    return;  // out of memory, in a callback of C code: the image is not there to be compared, which is then said
  }
}

}  // namespace

void ModuleWatch::start() {
  missing_.clear();
  if (cupti_ == nullptr) {
    loaded().cupti = cupti::load_library(missing_);
    cupti_ = loaded().cupti.get();
  }
  if (cupti_ == nullptr) {
    return;
  }
  cupti::Result result = cupti_->subscribe(&subscriber_, on_module, nullptr);
  if (result != cupti::kSuccess) {
    subscriber_ = nullptr;
    missing_ =
        (result == cupti::kMultipleSubscribers ? "another profiler watches this process: " : "CUPTI does not start: ") +
        cupti::describe(*cupti_, result);
    return;
  }
  result = cupti_->enable_callback(1, subscriber_, cupti::kResourceDomain, cupti::kModuleLoaded);
  if (result != cupti::kSuccess) {
    missing_ = "CUPTI does not tell of modules: " + cupti::describe(*cupti_, result);
    stop();
  }
}

void ModuleWatch::stop() {
  if (subscriber_ != nullptr) {
    cupti_->unsubscribe(subscriber_);  // fails only after a sticky error, which the next call reports
    subscriber_ = nullptr;
    missing_ = missing_.empty() ? "watching was ended" : missing_;
  }
}

void ModuleWatch::forget() {
  const std::lock_guard lock(loaded().mutex);
  loaded().images.clear();
}

std::vector<std::string> ModuleWatch::images(const std::vector<std::string>& kernels) const {
  const std::lock_guard lock(loaded().mutex);
  std::vector<std::string> found;
  for (const std::string& image : loaded().images) {
    // The name of the section with the kernel's code, in the image's table of names.
    const bool ours = std::ranges::any_of(
        kernels, [&](const std::string& kernel) { return image.find(".text." + kernel + '\0') != std::string::npos; });
    if (ours) {
      found.push_back(image);
    }
  }
  return found;
}

}  // namespace apo
