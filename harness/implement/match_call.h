// harness/implement/match_call.h - finds a value for each parameter of a plain function.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/functions.h"

namespace apo {

inline constexpr const char* kSetup = "setup";  // a name of the apo:function line that is no parameter's

struct PassedValue {
  std::string cpp;    // over `a`, the argument struct, and `call`
  std::string shown;  // "x", or "N=rows"
};

struct CallMatch {
  std::vector<PassedValue> values;
  int named = 0;        // parameters that have a value by their names
  std::string problem;  // why there is no call
};

// What a call may pass.
struct CallOffer {
  const Family& family;
  const Variant& variant;
  std::vector<ArgumentField> fields;  // argument_fields()
};

// By the names of the parameters and the apo:function line.
CallMatch match_names(const CallOffer& offer, const FunctionText& function);
// By the names, else in the order of the contract, where no name of the contract stands in another place.
CallMatch match_function(const CallOffer& offer, const FunctionText& function);

}  // namespace apo
