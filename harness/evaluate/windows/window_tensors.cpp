// harness/evaluate/windows/window_tensors.cpp - copies of one layout, an odd number of cache lines apart.
#include "harness/evaluate/windows/window_tensors.h"

#include <algorithm>
#include <utility>

#include "harness/worker/protocol/cold_cache.h"

namespace apo {
namespace {

constexpr std::byte kNothing{0xFF};

}  // namespace

WindowTensors::WindowTensors(SharedTensorsSpec spec, int calls, std::shared_ptr<MemoryFile> memory)
    : memory_(std::move(memory)) {
  constexpr int kPads = 64;   // of 64 bytes: every place within a page, and little to evict
  spec.foreign_code = false;  // all of the memory is cleared here
  spec.pads = calls > 1 ? kPads : spec.pads;
  calls_.push_back(std::make_unique<SharedTensors>(spec, memory_));
  layout_ = calls_.front()->layout();
  layout_.copies = calls;
  layout_.stride = layout_.bytes + 33 * spec.alignment;  // the copies lie at different places within their pages
  calls_.clear();
  memory_->reserve(layout_.file_bytes());
  std::fill(memory_->data(), memory_->data() + memory_->bytes(), kNothing);
  for (int i = 0; i < calls; ++i) {
    calls_.push_back(std::make_unique<SharedTensors>(spec, memory_, i * layout_.stride));
  }
}

void WindowTensors::poison_outputs() {
  for (const auto& call : calls_) {
    call->poison_outputs();
  }
}

void WindowTensors::evict() const {
  apo::evict({{memory_->data(), static_cast<std::size_t>(layout_.file_bytes())}});
}

std::optional<GuardDamage> WindowTensors::check_guards() const {
  for (const auto& call : calls_) {
    if (auto damage = call->check_guards()) {
      return damage;
    }
  }
  return std::nullopt;
}

}  // namespace apo
