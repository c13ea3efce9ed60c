// apo:variant    copy/host_honest_pins_its_thread
// apo:target     host
// apo:idea       Honest: pins its thread to the first CPU that it may use, and believes what the system answers.
// zoo: expect valid
#include <sched.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) {
    return 5;
  }
  int cpu = 0;
  while (!CPU_ISSET(cpu, &mine)) {
    ++cpu;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    return 5;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
