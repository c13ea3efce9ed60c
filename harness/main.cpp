// harness/main.cpp - the program: hand the command line to the table of commands.
#include "harness/cli/app.h"

int main(int argc, char** argv) {
  return apo::run_app(argc, argv);
}
