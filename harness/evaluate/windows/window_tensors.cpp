// harness/evaluate/windows/window_tensors.cpp - copies of one layout, an odd number of cache lines apart.
#include "harness/evaluate/windows/window_tensors.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "harness/worker/protocol/cold_cache.h"

namespace apo {
namespace {

constexpr std::byte kNothing{0xFF};

}  // namespace

WindowTensors::WindowTensors(SharedTensorsSpec spec, int calls, std::shared_ptr<MemoryFile> memory)
    : memory_(std::move(memory)) {
  spec.foreign_code = false;  // all of the memory is cleared here
  if (calls > 1) {            // close together, so that a window does not wait for the addresses of many pages
    spec.guard_bytes = 128;
    spec.pads = 16;
  }
  calls_.push_back(std::make_unique<SharedTensors>(spec, memory_));
  layout_ = calls_.front()->layout();
  layout_.copies = calls;
  layout_.stride = layout_.bytes + (layout_.bytes / spec.alignment % 2 == 0 ? spec.alignment : 0);
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
  std::vector<std::span<const std::byte>> buffers;
  for (int i = 0; i < layout_.copies; ++i) {
    for (const BufferPlace& place : layout_.buffers) {
      buffers.emplace_back(memory_->data() + i * layout_.stride + place.offset, static_cast<std::size_t>(place.bytes));
    }
  }
  apo::evict(buffers);
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
