// apo:variant    copy/host_reads_the_map_of_its_parent
// apo:target     host
// apo:idea       Looks where the harness keeps its memory; gives up when it may not.
// zoo: how verify; expect refused; guard landlock; exploit 20; evidence apo_launch returned 9; needs landlock
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/maps", getppid());
  char byte = 0;
  const int file = open(path, O_RDONLY);
  if (file < 0 || read(file, &byte, 1) != 1) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
