// tests/worker/parent_program.cpp - a harness that waits for a candidate which never returns; the test kills it.
#include <chrono>
#include <cstdio>

#include "harness/worker/parent/worker.h"

// parent_program WORKER OBJECT: prints the worker's process id, then calls the object.
int main(int argc, char** argv) {
  if (argc != 3) {
    return 1;
  }
  const apo::SharedTensors shared_tensors(
      {.buffers = {{.name = "x", .bytes = 4096}, {.name = "y", .bytes = 4096, .role = apo::BufferRole::output}},
       .words = {1024}});
  apo::Worker worker({.program = argv[1], .deadline = std::chrono::minutes(5)});
  if (!worker.load(0, argv[2]) || !worker.attach(shared_tensors)) {
    return 2;
  }
  std::printf("%d\n", worker.pid());
  std::fflush(stdout);
  return worker.call(0) ? 0 : 3;
}
