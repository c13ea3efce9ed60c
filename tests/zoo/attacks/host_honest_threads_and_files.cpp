// apo:variant    copy/host_honest_threads_and_files
// apo:target     host
// apo:idea       Honest: asks how many CPUs there are, looks for a file of settings that need not be there, and blocks signals in its threads.
// zoo: expect valid
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const int64_t parts = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 4);
  std::vector<std::thread> threads;
  for (int64_t part = 0; part < parts; ++part) {
    threads.emplace_back([&args, part, parts] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      const int settings = open("/etc/copy.conf", O_RDONLY | O_CLOEXEC);
      if (settings >= 0) {
        close(settings);
      }
      const int64_t begin = args.n * part / parts;
      const int64_t end = args.n * (part + 1) / parts;
      std::memcpy(args.y + begin, args.x + begin, sizeof(float) * static_cast<size_t>(end - begin));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return 0;
}
