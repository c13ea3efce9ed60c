// harness/core/records/selftest_record.cpp - the words of a selftest.
#include "harness/core/records/selftest_record.h"

namespace apo {

const char* to_string(SelftestKind kind) {
  return kind == SelftestKind::aa ? "aa" : kind == SelftestKind::power ? "power" : "layout";
}

}  // namespace apo
