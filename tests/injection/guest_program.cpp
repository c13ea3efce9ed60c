// tests/injection/guest_program.cpp - an application as the injected library meets it. It loads the library as the CUDA
// driver would, and launches through the CUPTI that APO_CUPTI_LIBRARY names.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define APO_HAS_NVTX 1
#endif

namespace {

using Kernel = void (*)(const char* name, std::uint64_t start, std::uint64_t end);

void* must(void* pointer) {
  if (pointer == nullptr) {
    std::fprintf(stderr, "guest: %s\n", dlerror());
    std::_Exit(99);
  }
  return pointer;
}

// What cuInit() does with CUDA_INJECTION64_PATH.
void start_cuda() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path != nullptr) {
    void* const library = must(dlopen(path, RTLD_NOW | RTLD_LOCAL));
    reinterpret_cast<int (*)()>(must(dlsym(library, "InitializeInjection")))();
  }
}

void* fake(const char* name) {
  return must(dlsym(must(dlopen(std::getenv("APO_CUPTI_LIBRARY"), RTLD_NOW | RTLD_LOCAL)), name));
}

void launch(int count) {
  const auto kernel = reinterpret_cast<Kernel>(fake("fake_kernel"));
  for (int i = 0; i < count; ++i) {
    const auto start = 1'000 + 1'000 * static_cast<std::uint64_t>(i);
    kernel(i % 2 == 0 ? "_Z5scalePf" : "sgemm", start, start + 100);
  }
}

// The first flush from now on may be under way; when the third one comes, what the second one gave is written.
void wait_for_the_writer() {
  const auto flushes = reinterpret_cast<int (*)()>(fake("fake_flushes"));
  const int before = flushes();
  while (flushes() < before + 3) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int fork_and_launch() {
  launch(10);
  const pid_t child = fork();  // inherits what was recorded, and must not report it again
  if (child == 0) {
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  launch(10);
  return status;
}

int start_cuda_in_two_children() {
  for (int i = 0; i < 2; ++i) {
    if (fork() == 0) {
      start_cuda();
      launch(10);
      std::exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
  return 0;
}

#ifdef APO_HAS_NVTX
// 3 launches in "step", 2 in "forward" within it, 1 outside, and 1 of a thread that works for "step" while it waits.
int launch_in_ranges(bool before_cuda) {
  if (before_cuda) {
    nvtxRangePushA("step");  // NVTX starts its tool before CUDA starts its own
  }
  start_cuda();
  launch(1);
  if (!before_cuda) {
    nvtxRangePushA("step");
  }
  launch(2);
  nvtxEventAttributes_t forward{};
  forward.version = NVTX_VERSION;
  forward.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  forward.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("guest");
  forward.message.registered = nvtxDomainRegisterStringA(domain, "forward");
  nvtxDomainRangePushEx(domain, &forward);
  launch(2);
  nvtxDomainRangePop(domain);
  std::thread([] { launch(1); }).join();
  nvtxRangePop();
  launch(1);
  return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "children") {
    return start_cuda_in_two_children();
  }
#ifdef APO_HAS_NVTX
  if (mode == "ranges" || mode == "early_ranges") {
    return launch_in_ranges(mode == "early_ranges");
  }
#endif
  start_cuda();
  if (mode == "nothing") {
    return 0;
  }
  if (mode == "fork") {
    return fork_and_launch();
  }
  if (mode == "no_space") {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_FSIZE, &none);  // a write now raises SIGXFSZ, which ends a process
  }
  launch(argc > 2 ? std::atoi(argv[2]) : 10);
  if (mode == "_exit" || mode == "crash") {
    wait_for_the_writer();
    reinterpret_cast<void (*)()>(fake("fake_hold_back"))();
    launch(1);
    mode == "_exit" ? _exit(4) : std::abort();
  }
  if (mode == "abort") {
    std::abort();
  }
  if (mode == "exec") {
    wait_for_the_writer();
    execl(argv[0], argv[0], "exit", "10", nullptr);
  }
  std::puts("the guest's own output");
  return mode == "fail" ? 3 : 0;
}
