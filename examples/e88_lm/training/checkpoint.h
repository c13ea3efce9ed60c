// training/checkpoint.h - a training's state in a file that is whole or absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/size.h"

namespace byte_lm {

// What must be the same for a training to go on.
struct TrainingIdentity {
  ModelSize size;
  std::int64_t batch = 0, length = 0;
  std::uint64_t seed = 0;
  std::uint64_t corpus = 0;                    // Corpus::hash()
  std::uint64_t number_bytes = sizeof(float);  // of a master

  bool operator==(const TrainingIdentity&) const = default;
};

struct TrainingState {
  TrainingIdentity identity;
  std::int64_t step = 0;        // the last one done
  std::vector<std::byte> data;  // masters and both moments, as the backend has them
};

// Written beside the file, flushed to the disk and renamed. Throws std::runtime_error; the old file then stays.
void write_checkpoint(const std::filesystem::path& file, const TrainingState& state);

// Throws UserError for a file that is absent, damaged or of another training.
TrainingState read_checkpoint(const std::filesystem::path& file, const TrainingIdentity& expected);

}  // namespace byte_lm
