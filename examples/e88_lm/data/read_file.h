// data/read_file.h - the bytes of a file.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "data/error.h"

namespace byte_lm {

// Throws UserError for what is no readable file.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || !std::filesystem::is_regular_file(path)) {
    throw UserError("can't read " + path.string(), "name a file that exists, or a folder that holds some");
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace byte_lm
