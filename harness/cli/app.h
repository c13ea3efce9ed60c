// harness/cli/app.h - parses the command line, runs one command, turns errors into messages and exit codes.
#pragma once

namespace apo {

int run_app(int argc, char** argv);

}  // namespace apo
