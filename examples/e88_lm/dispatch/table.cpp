// dispatch/table.cpp - the table is C++, so a small program that includes it answers.
#include "dispatch/table.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "data/error.h"
#include "data/read_file.h"
#include "dispatch/command.h"

namespace byte_lm {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRefused = "refused ";

std::string header_of(const fs::path& folder, const std::string& family) {
  const std::string name = family + "_dispatch.h";
  if (!fs::exists(folder / name)) {
    throw UserError("no " + name + " in " + folder.string(),
                    "'apo export --dispatch " + family + " --with-sources --output " + folder.string() +
                        "' writes it; --fallback VARIANT serves what was never measured");
  }
  return name;
}

fs::path planner(const fs::path& folder, const std::string& family) {
  const std::string header = header_of(folder, family);
  const fs::path source = fs::path(E88_LM_FOLDER) / "dispatch" / "planner.cpp";
  const char* compiler = std::getenv("CXX");
  const std::vector<std::string> command = {compiler == nullptr ? "g++" : compiler,
                                            "-std=c++17",
                                            "-O1",
                                            "-I" + folder.string(),
                                            "-DE88_LM_HEADER=\"" + header + "\"",
                                            "-DE88_LM_TABLE=apo_dispatch::" + family,
                                            source.string()};
  // Not the folder: the same table in another place needs no other program.
  return built(command, {family, command.front(), read_file(folder / header), read_file(source)});
}

PlannedLaunch launch_from(std::istringstream& words) {
  PlannedLaunch launch;
  words >> launch.kernel;
  for (auto* sizes : {&launch.grid, &launch.block, &launch.cluster}) {
    words >> (*sizes)[0] >> (*sizes)[1] >> (*sizes)[2];
  }
  words >> launch.shared_bytes >> launch.cooperative >> launch.l2_persist;
  return launch;
}

void take_line(const fs::path& folder, const std::string& line, PlannedKernel& kernel) {
  std::istringstream words(line);
  std::string kind, rest;
  words >> kind >> std::ws;
  if (kind == "launch") {
    kernel.launches.push_back(launch_from(words));
    return;
  }
  std::getline(words, rest);
  if (kind == "variant") {
    kernel.variant = rest;
  } else if (kind == "source") {
    kernel.source = folder / rest;
  } else if (kind == "constant") {
    kernel.constants.push_back(rest);
  } else if (kind == "scratch") {
    kernel.scratch.push_back(std::stoll(rest));
  }
}

std::string nvcc() {
  const char* home = std::getenv("CUDA_HOME");
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  return home != nullptr ? std::string(home) + "/bin/nvcc" : fs::exists(usual) ? usual : "nvcc";
}

std::vector<std::string> texts_beside(const fs::path& source) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source.parent_path())) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const fs::path& file : files) {
    texts.push_back(file.filename().string() + "\n" + read_file(file));
  }
  return texts;
}

}  // namespace

PlannedKernel plan_kernel(const fs::path& folder, const std::string& family, const std::vector<std::int64_t>& axes,
                          const DeviceFacts& device) {
  std::vector<std::string> words = {planner(folder, family).string(), device.id, device.model};
  for (const std::int64_t fact : {device.compute_capability, device.sms, device.shared_max, device.max_threads}) {
    words.push_back(std::to_string(fact));
  }
  std::transform(axes.begin(), axes.end(), std::back_inserter(words), [](std::int64_t x) { return std::to_string(x); });
  const Ran ran = run_command(words);
  if (ran.status != 0 || ran.output.starts_with(kRefused)) {
    throw UserError(folder.string() + ": " + (ran.status == 0 ? ran.output.substr(kRefused.size()) : ran.output) +
                    "'apo export --dispatch' with --fallback VARIANT serves what was never measured");
  }
  PlannedKernel kernel;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);) {
    take_line(folder, line, kernel);
  }
  if (kernel.launches.empty()) {
    throw UserError(kernel.variant + " has host code, and this program calls device variants",
                    "export a device variant: 'apo list " + family + " --target cuda'");
  }
  return kernel;
}

fs::path build_kernel(const PlannedKernel& kernel, std::int64_t compute_capability) {
  if (!fs::exists(kernel.source)) {
    throw UserError("no " + kernel.source.string(), "'apo export --dispatch' needs --with-sources");
  }
  // From 9.0 on, "a" also allows the instructions of this generation alone.
  const std::string number = std::to_string(compute_capability) + (compute_capability >= 90 ? "a" : "");
  std::vector<std::string> command = {nvcc(), "-gencode=arch=compute_" + number + ",code=sm_" + number, "-std=c++20",
                                      "-cubin"};
  for (const std::string& constant : kernel.constants) {
    command.push_back("-DAPO_" + constant);
  }
  std::vector<std::string> key = texts_beside(kernel.source);
  key.insert(key.end(), command.begin(), command.end());
  command.push_back(kernel.source.string());
  return built(command, key);
}

}  // namespace byte_lm
