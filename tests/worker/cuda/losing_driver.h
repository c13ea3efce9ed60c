// tests/worker/cuda/losing_driver.h - a folder with a driver that loses its GPU by plan (losing_driver.cpp).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/core/system/files.h"

namespace apo::testing {

class LosingDriver {
 public:
  LosingDriver() {
    std::filesystem::copy_file(APO_LOSING_DRIVER, folder_.path() / "libcuda.so.1");
    const char* others = std::getenv("LD_LIBRARY_PATH");
    library_path_ = folder_.path().string() + (others != nullptr ? ":" + std::string(others) : "");
  }
  // "3 vanishes": see losing_driver.cpp.
  void plan(const std::string& text) const { write_file_atomically(folder_.path() / "plan", text); }
  void take_away() const { write_file_atomically(folder_.path() / "gone", ""); }
  // Until the plan takes it away again, which is due at once.
  void bring_back() const { std::filesystem::remove(folder_.path() / "gone"); }
  // Of a process that is to find this driver.
  std::string environment() const { return "LD_LIBRARY_PATH=" + library_path_; }

 private:
  TemporaryFolder folder_;
  std::string library_path_;
};

}  // namespace apo::testing
