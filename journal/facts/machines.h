// journal/facts/machines.h - writes and reads machines, each in its states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/records/machine.h"

namespace apo {

class Journal;

// Adding the same again changes nothing.
void add_machine(Journal& journal, const Machine& machine);
std::optional<Machine> find_machine(Journal& journal, const std::string& id);  // as this process added it, else newest
std::optional<Machine> machine_of(Journal& journal, std::int64_t experiment);  // in the state it was in

}  // namespace apo
