// harness/cli/app.h - parses the command line, runs one command, turns errors into messages and exit codes.
#pragma once

namespace apo {

// Exit codes: 0 done, 1 the user's mistake, 2 the environment, 3 a gate failed.
enum ExitCode : int { kDone = 0, kUserMistake = 1, kEnvironmentTrouble = 2, kGateFailed = 3 };

// Of the commands that judge candidates, for their help.
inline constexpr const char* kJudgedExitCodes =
    "Exit codes: 0 judged, whatever the verdict; 1 a mistake in the command; 2 this machine could not\n"
    "judge; 3 a gate failed.";

int run_app(int argc, char** argv);

}  // namespace apo
