// harness/implement/toolkit.h - finds the CUDA toolkit's programs and libraries on this machine, and the host
// compiler's headers.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace apo {

// Returns the existing folders that may hold a CUDA toolkit: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda.
std::vector<std::filesystem::path> toolkit_folders();

// Returns the path of nvcc or compute-sanitizer, from PATH, else from a toolkit folder; "" when there is none.
std::string find_toolkit_program(const std::string& name);

// Returns the folders of headers of a host compiler, its own and the environment's; none where it does not run.
std::vector<std::filesystem::path> compiler_header_folders(const std::string& compiler,
                                                           const std::stop_token& stop = {});

// Returns "nvcc: Cuda compilation tools, release 13.0, V13.0.88". Throws EnvironmentError when it names no release.
std::string nvcc_version(const std::string& nvcc);

}  // namespace apo
