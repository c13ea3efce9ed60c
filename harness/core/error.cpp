// harness/core/error.cpp - ends the program on a failed APO_CHECK.
#include "harness/core/error.h"

#include <cstdio>
#include <cstdlib>

namespace apo {

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "apo: internal error: %s at %s:%d %s\n", condition, file, line, detail.c_str());
  std::abort();
}

}  // namespace apo
