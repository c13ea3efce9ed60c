// journal/facts/machines.cpp - writes and reads machines and toolchains.
#include "journal/facts/machines.h"

#include <stdexcept>

#include "harness/core/hash.h"
#include "journal/columns.h"

namespace apo {

std::string machine_fingerprint(const Machine& machine) {
  const std::string parts[] = {machine.id,
                               std::string(to_string(machine.target)),
                               machine.model,
                               std::to_string(machine.cores),
                               machine.kernel,
                               machine.governor,
                               machine.isa,
                               machine.driver,
                               std::to_string(machine.l2_bytes),
                               std::to_string(machine.l3_bytes),
                               std::to_string(machine.memory_bytes),
                               encode(machine.facts)};
  return sha256_of_parts(parts);
}

std::int64_t machine_row(Journal& journal, const std::string& id) {
  if (const auto found = journal.implementation().machines.find(id); found != journal.implementation().machines.end()) {
    return found->second;
  }
  const std::int64_t row = database_of(journal).number("SELECT max(id) FROM machine WHERE key = ?", {id});
  if (row == 0) {
    throw std::logic_error("machine '" + id + "' is not in the journal: call add_machine first");
  }
  return row;
}

std::int64_t toolchain_row(Journal& journal, const Toolchain& toolchain) {
  const std::int64_t known = database_of(journal).number("SELECT id FROM toolchain WHERE compiler = ? AND version = ?",
                                                         {toolchain.compiler, toolchain.version});
  return known != 0 ? known : insert_row(journal, "toolchain", toolchain);
}

void add_machine(Journal& journal, const Machine& machine) {
  Transaction transaction(database_of(journal));
  const std::string print = machine_fingerprint(machine);
  std::int64_t id = database_of(journal).number("SELECT id FROM machine WHERE fingerprint = ?", {print});
  if (id == 0) {
    id = insert_row(journal, "machine", machine, {{"fingerprint", print}, {"first_seen", utc_now()}});
  }
  transaction.commit();
  journal.implementation().machines.insert_or_assign(machine.id, id);
}

std::optional<Machine> find_machine(Journal& journal, const std::string& id) {
  const auto current = journal.implementation().machines.find(id);
  const bool any = current == journal.implementation().machines.end();
  return first_of(read_rows<Machine>(journal, "machine WHERE key = ? AND (id = ? OR ?) ORDER BY id DESC LIMIT 1",
                                     {id, any ? 0 : current->second, any}));
}

std::optional<Machine> machine_of(Journal& journal, std::int64_t experiment) {
  return first_of(
      read_rows<Machine>(journal, "machine WHERE id = (SELECT machine FROM experiment WHERE id = ?)", {experiment}));
}

}  // namespace apo
