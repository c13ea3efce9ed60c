// harness/implement/nvrtc.cpp - loads NVRTC and compiles in a forked process that answers with two files.
#include "harness/implement/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/toolkit.h"

namespace apo {
namespace fs = std::filesystem;

// The functions of <nvrtc.h> that are used, with C's types: nvrtcResult is an enum, nvrtcProgram a pointer.
struct NvrtcFunctions {
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(void** program, const char* source, const char* name, int headers, const char* const* contents,
                const char* const* names) = nullptr;
  int (*compile)(void* program, int count, const char* const* options) = nullptr;
  int (*log_size)(void* program, std::size_t* bytes) = nullptr;
  int (*log)(void* program, char* text) = nullptr;
  int (*cubin_size)(void* program, std::size_t* bytes) = nullptr;
  int (*cubin)(void* program, char* bytes) = nullptr;
};

namespace {

using Clock = std::chrono::steady_clock;

constexpr rlim_t kCompilerMemory = rlim_t{8} << 30;  // beyond what the process has when it is forked
constexpr const char* kNvrtcLog = "nvrtc.log";

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, NvrtcFunctions& functions) {
  return find(library, "nvrtcVersion", functions.version) && find(library, "nvrtcCreateProgram", functions.create) &&
         find(library, "nvrtcCompileProgram", functions.compile) &&
         find(library, "nvrtcGetProgramLogSize", functions.log_size) &&
         find(library, "nvrtcGetProgramLog", functions.log) &&
         find(library, "nvrtcGetCUBINSize", functions.cubin_size) && find(library, "nvrtcGetCUBIN", functions.cubin);
}

std::vector<std::string> library_paths() {
  std::vector<std::string> paths;
  for (const fs::path& toolkit : toolkit_folders()) {
    for (const char* folder : {"lib64", "lib"}) {
      paths.push_back((toolkit / folder / "libnvrtc.so").string());
    }
  }
  paths.insert(paths.end(), {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  return paths;
}

// Text of a program: asks for the size, then for the bytes.
std::string text_of(void* program, int (*size_of)(void*, std::size_t*), int (*read)(void*, char*)) {
  std::size_t bytes = 0;
  if (size_of(program, &bytes) != 0) {
    return "";
  }
  std::string text(bytes, '\0');
  return read(program, text.data()) == 0 ? text : "";
}

// Runs in the forked process; its exit code says whether there is a cubin.
int compile_here(const NvrtcFunctions& nvrtc, const std::vector<SourceFile>& files, const Words& flags,
                 const fs::path& folder) {
  const auto own = static_cast<rlim_t>(address_space(getpid()));  // terabytes where a CUDA context is open
  const rlimit memory{.rlim_cur = own + kCompilerMemory, .rlim_max = own + kCompilerMemory};
  setrlimit(RLIMIT_AS, &memory);  // may fail under a lower limit of our own, which holds as well
  std::vector<const char*> options;
  for (const std::string& option : flags) {
    options.push_back(option.c_str());
  }
  std::vector<const char*> headers;
  std::vector<const char*> names;
  for (std::size_t i = 1; i < files.size(); ++i) {
    headers.push_back(files[i].text.c_str());
    names.push_back(files[i].name.c_str());
  }
  const SourceFile& source = files.front();
  void* program = nullptr;
  if (nvrtc.create(&program, source.text.c_str(), source.name.c_str(), static_cast<int>(headers.size()), headers.data(),
                   names.data()) != 0) {
    return 1;
  }
  const int result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  std::string log = text_of(program, nvrtc.log_size, nvrtc.log);
  log.resize(std::strlen(log.c_str()));  // it counts its final zero
  write_file_atomically(folder / kNvrtcLog, log);
  if (result != 0) {
    return 1;
  }
  const std::string cubin = text_of(program, nvrtc.cubin_size, nvrtc.cubin);
  write_file_atomically(folder / kCubin, cubin);
  return cubin.empty() ? 1 : 0;
}

// The wait status, or nothing when the process was killed at its deadline.
bool wait_for(pid_t pid, double timeout_s, const std::stop_token& stop, int& status) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  bool in_time = true;
  while (true) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) {
      return in_time;
    }
    if (in_time && (Clock::now() > deadline || stop.stop_requested())) {
      kill(pid, SIGKILL);
      in_time = false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Nvrtc::Nvrtc(std::string path, const NvrtcFunctions& functions)
    : path_(std::move(path)), functions_(std::make_shared<const NvrtcFunctions>(functions)) {
  int major = 0;
  int minor = 0;
  functions.version(&major, &minor);  // cannot fail with two places to write to
  version_ = fmt::format("NVRTC {}.{}", major, minor);
}

CompileStep Nvrtc::compile(const std::vector<SourceFile>& files, const Words& options, const fs::path& folder,
                           double timeout_s, const std::stop_token& stop) const {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    throw EnvironmentError(std::string("cannot start a process to compile in: ") + std::strerror(errno));
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int code = 1;
    try {
      code = getppid() == parent ? compile_here(*functions_, files, options, folder) : 1;
    } catch (const std::exception&) {
      code = 1;  // out of memory or of disk: the parent reports the missing cubin
    }
    _exit(code);
  }
  int status = 0;
  const bool in_time = wait_for(pid, timeout_s, stop, status);
  if (!in_time && stop.stop_requested()) {
    throw Cancelled();
  }
  ProcessResult end = ended_with(status);
  end.timed_out = !in_time;
  CompileStep step{.ok = end.ok()};
  if (fs::exists(folder / kNvrtcLog)) {
    step.log = read_file(folder / kNvrtcLog);
  }
  const std::string sudden = sudden_end(end, timeout_s);
  step.evidence = sudden.empty() ? "" : "the compiler " + sudden;
  return step;
}

std::unique_ptr<Nvrtc> Nvrtc::load() {
  for (const std::string& path : library_paths()) {
    if (path.front() == '/' && !fs::exists(path)) {
      continue;
    }
    // Never closed: the library keeps threads and state of its own.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    NvrtcFunctions functions;
    if (library != nullptr && find_all(library, functions)) {
      return std::make_unique<Nvrtc>(path, functions);
    }
  }
  return nullptr;
}

}  // namespace apo
