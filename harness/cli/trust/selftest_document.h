// harness/cli/trust/selftest_document.h - prints a selftest as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/loop/selftest/selftest.h"

namespace apo {

std::string selftest_text(const SelftestResult& result);
nlohmann::ordered_json selftest_document(const SelftestResult& result);

}  // namespace apo
