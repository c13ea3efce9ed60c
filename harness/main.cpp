// harness/main.cpp - passes the command line to the table of commands.
#include "harness/cli/app.h"

int main(int argc, char** argv) {
  return apo::run_app(argc, argv);
}
