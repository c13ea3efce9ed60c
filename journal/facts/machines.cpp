// journal/facts/machines.cpp - writes and reads machines and toolchains.
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

std::int64_t Journal::Implementation::machine_row(const std::string& id) {
  if (const auto found = machines.find(id); found != machines.end()) {
    return found->second;
  }
  const std::int64_t row = database.number("SELECT max(id) FROM machine WHERE key = ?", {id});
  if (row == 0) {
    throw std::logic_error("machine '" + id + "' is not in the journal: call add_machine first");
  }
  return row;
}

std::int64_t Journal::Implementation::toolchain_row(const Toolchain& toolchain) {
  const std::int64_t known = database.number("SELECT id FROM toolchain WHERE compiler = ? AND version = ?",
                                             {toolchain.compiler, toolchain.version});
  return known != 0 ? known : insert_row(*this, "toolchain", toolchain);
}

void Journal::add_machine(const Machine& machine) {
  Transaction transaction(self_->database);
  const std::string print = machine_fingerprint(machine);
  std::int64_t id = self_->database.number("SELECT id FROM machine WHERE fingerprint = ?", {print});
  if (id == 0) {
    id = insert_row(*self_, "machine", machine, {{"fingerprint", print}, {"first_seen", utc_now()}});
  }
  transaction.commit();
  self_->machines.insert_or_assign(machine.id, id);
}

std::optional<Machine> Journal::machine(const std::string& id) {
  const auto current = self_->machines.find(id);
  const bool any = current == self_->machines.end();
  return first_of(read_rows<Machine>(*self_, "machine WHERE key = ? AND (id = ? OR ?) ORDER BY id DESC LIMIT 1",
                                     {id, any ? 0 : current->second, any}));
}

std::optional<Machine> Journal::machine_of(std::int64_t experiment) {
  return first_of(
      read_rows<Machine>(*self_, "machine WHERE id = (SELECT machine FROM experiment WHERE id = ?)", {experiment}));
}

}  // namespace apo
