// tests/common_headers.cpp - the target that compiles common_headers.h; it tests nothing.
#include "tests/common_headers.h"
