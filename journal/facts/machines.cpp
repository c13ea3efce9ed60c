// journal/facts/machines.cpp - writes and reads machines and toolchains.
#include <stdexcept>

#include "harness/core/hash.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

constexpr std::string_view kMachineColumns =
    "key, target, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts";

Machine next_machine(Statement& row) {
  Machine machine;
  machine.id = row.text();
  machine.target = target_from(row.text());
  machine.model = row.text();
  machine.cores = row.small();
  machine.kernel = row.text();
  machine.governor = row.text();
  machine.isa = row.text();
  machine.driver = row.text();
  machine.l2_bytes = row.integer();
  machine.l3_bytes = row.integer();
  machine.memory_bytes = row.integer();
  machine.facts = decode_texts(row.text());
  return machine;
}

}  // namespace

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
  Statement row = database.query("SELECT max(id) FROM machine WHERE key = ? HAVING count(*) > 0", {id});
  if (!row.step()) {
    throw std::logic_error("machine '" + id + "' is not in the journal: call add_machine first");
  }
  return row.integer();
}

std::int64_t Journal::Implementation::toolchain_row(const Toolchain& toolchain) {
  Statement known = database.query("SELECT id FROM toolchain WHERE compiler = ? AND version = ?",
                                   {toolchain.compiler, toolchain.version});
  return known.step() ? known.integer()
                      : database.insert("INSERT INTO toolchain (compiler, version) VALUES (?, ?)",
                                        {toolchain.compiler, toolchain.version});
}

void Journal::add_machine(const Machine& machine) {
  Transaction transaction(self_->database);
  const std::string facts = encode(machine.facts);
  const std::string print = machine_fingerprint(machine);
  self_->database.run(
      "INSERT OR IGNORE INTO machine (fingerprint, key, target, model, cores, kernel, governor, isa, driver, l2_bytes,"
      " l3_bytes, memory_bytes, facts, first_seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {print, machine.id, to_string(machine.target), machine.model, machine.cores, machine.kernel, machine.governor,
       machine.isa, machine.driver, machine.l2_bytes, machine.l3_bytes, machine.memory_bytes, facts, time_or_now("")});
  Statement row = self_->database.query("SELECT id FROM machine WHERE fingerprint = ?", {print});
  row.step();
  const std::int64_t id = row.integer();
  transaction.commit();
  self_->machines.insert_or_assign(machine.id, id);
}

std::optional<Machine> Journal::machine(const std::string& id) {
  const auto current = self_->machines.find(id);
  Statement row = self_->database.query(
      "SELECT " + std::string(kMachineColumns) +
          " FROM machine WHERE key = ? AND (id = ? OR ? = 0)"
          " ORDER BY id DESC LIMIT 1",
      {id, current == self_->machines.end() ? 0 : current->second, current == self_->machines.end() ? 0 : 1});
  return row.step() ? std::optional(next_machine(row)) : std::nullopt;
}

std::optional<Machine> Journal::machine_of(std::int64_t experiment) {
  Statement row = self_->database.query("SELECT " + std::string(kMachineColumns) +
                                            " FROM machine WHERE id = (SELECT machine FROM experiment WHERE id = ?)",
                                        {experiment});
  return row.step() ? std::optional(next_machine(row)) : std::nullopt;
}

}  // namespace apo
