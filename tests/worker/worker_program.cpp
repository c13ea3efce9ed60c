// tests/worker/worker_program.cpp - the smallest program that can be a worker, so that these tests don't need apo.
#include "harness/worker/child/worker_main.h"

int main() {
  return apo::worker_main();
}
