// harness/cli/bring/definition.h - the options of `apo import definition`, and its action.
#pragma once

#include <string>

#include "harness/cli/command.h"
#include "harness/exchange/exchange.h"

namespace apo {

struct DefinitionOptions {
  ImportRequest request;
  std::string output;  // folder; empty: the working folder
  bool registers = true;
};

int import_definition(const DefinitionOptions& options, const Globals& globals);

}  // namespace apo
