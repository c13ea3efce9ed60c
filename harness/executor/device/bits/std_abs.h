// harness/executor/device/bits/std_abs.h - takes the place of libstdc++'s file: math.inl has declared abs.
#pragma once

namespace std {
using ::abs;
}
