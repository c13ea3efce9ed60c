// harness/implement/toolkit.h - finds the CUDA toolkit's programs and libraries on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace apo {

// Folders that may hold a CUDA toolkit: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda. Only those that exist.
std::vector<std::filesystem::path> toolkit_folders();

// The path of nvcc or compute-sanitizer: from PATH, else from a toolkit folder; "" when there is none.
std::string find_toolkit_program(const std::string& name);

// "nvcc: Cuda compilation tools, release 13.0, V13.0.88". Throws EnvironmentError when it names no release.
std::string nvcc_version(const std::string& nvcc);

}  // namespace apo
