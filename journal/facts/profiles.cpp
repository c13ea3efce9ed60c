// journal/facts/profiles.cpp - writes and reads profiles and the roofs that they are held against.
#include <fmt/format.h>

#include "harness/core/error.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

Roof next_roof(Statement& row) {
  Roof roof;
  roof.name = row.text();
  roof.value = row.real();
  roof.unit = row.text();
  roof.lower = row.real();
  roof.upper = row.real();
  roof.samples = row.small();
  roof.note = row.text();
  return roof;
}

std::int64_t insert_roof(Database& database, std::int64_t machine, const Roof& roof) {
  return database.insert(
      "INSERT INTO roof (machine, name, value, unit, lower, upper, samples, note, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
      "?)",
      {machine, roof.name, roof.value, roof.unit, roof.lower, roof.upper, roof.samples, roof.note, time_or_now("")});
}

// The row of this very measurement, which several profiles share.
std::int64_t roof_row(Database& database, std::int64_t machine, const Roof& roof) {
  Statement same = database.query(
      "SELECT id FROM roof WHERE machine = ? AND name = ? AND value IS ? AND unit = ? AND lower IS ? AND upper IS ?"
      " AND samples = ? AND note = ? ORDER BY id DESC LIMIT 1",
      {machine, roof.name, roof.value, roof.unit, roof.lower, roof.upper, roof.samples, roof.note});
  return same.step() ? same.integer() : insert_roof(database, machine, roof);
}

void read_samples(Database& database, std::int64_t id, Profile& profile) {
  Statement samples = database.query(
      "SELECT kernel, pc_offset, file, line, stall, samples FROM stall_sample WHERE profile = ? ORDER BY position",
      {id});
  while (samples.step()) {
    profile.stalls.push_back({.kernel = samples.text(),
                              .pc_offset = samples.integer(),
                              .file = samples.text(),
                              .line = samples.small(),
                              .stall = samples.text(),
                              .samples = samples.integer()});
  }
  Statement lines =
      database.query("SELECT file, line, text FROM source_line WHERE profile = ? ORDER BY file, line", {id});
  while (lines.step()) {
    profile.lines.push_back({.file = lines.text(), .line = lines.small(), .text = lines.text()});
  }
}

void write_samples(Database& database, std::int64_t id, const Profile& profile) {
  int position = 0;
  for (const StallSample& one : profile.stalls) {
    database.run(
        "INSERT INTO stall_sample (profile, position, kernel, pc_offset, file, line, stall, samples)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        {id, position++, one.kernel, one.pc_offset, one.file, one.line, one.stall, one.samples});
  }
  for (const SourceLine& one : profile.lines) {
    database.run("INSERT INTO source_line (profile, file, line, text) VALUES (?, ?, ?, ?)",
                 {id, one.file, one.line, one.text});
  }
}

std::vector<Profile> profiles_where(Journal::Implementation& self, std::string_view condition,
                                    const std::vector<Value>& values) {
  std::vector<Profile> profiles;
  Statement rows = self.database.query(
      "SELECT id, configuration, workload, rung, missing, floor_ns, floor_roof, time_ns, floor_fraction,"
      " conditions FROM profile WHERE " +
          std::string(condition) + " ORDER BY id",
      values);
  while (rows.step()) {
    const std::int64_t id = rows.integer();
    Profile profile;
    profile.configuration = self.configuration(rows.integer());
    profile.workload = rows.text();
    profile.rung = rows.text();
    profile.missing = rows.text();
    profile.floor_ns = rows.real();
    profile.floor_roof = rows.text();
    profile.time_ns = rows.real();
    profile.floor_fraction = rows.real();
    profile.conditions = rows.text();
    read_samples(self.database, id, profile);
    Statement metrics = self.database.query(
        "SELECT name, value, unit, lower, upper, samples FROM metric WHERE profile = ? ORDER BY position", {id});
    while (metrics.step()) {
      profile.metrics.push_back({metrics.text(), metrics.real(), metrics.text(), metrics.optional_real(),
                                 metrics.optional_real(), metrics.small()});
    }
    Statement roofs = self.database.query(
        "SELECT name, value, unit, lower, upper, samples, note FROM profile_roof p JOIN roof r ON r.id = p.roof"
        " WHERE profile = ? ORDER BY position",
        {id});
    while (roofs.step()) {
      profile.roofs.push_back(next_roof(roofs));
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace

void Journal::add_roofs(const std::string& machine, const std::vector<Roof>& roofs) {
  Transaction transaction(self_->database);
  for (const Roof& roof : roofs) {
    insert_roof(self_->database, self_->machine_row(machine), roof);
  }
  transaction.commit();
}

std::vector<Roof> Journal::roofs(const std::string& machine, const std::string& driver) {
  std::vector<Roof> result;
  Statement rows = self_->database.query(
      "SELECT name, value, unit, lower, upper, samples, note FROM roof WHERE id IN"
      " (SELECT max(r.id) FROM roof r JOIN machine m ON m.id = r.machine WHERE m.key = ? AND ? IN ('', m.driver)"
      " GROUP BY r.name) ORDER BY name",
      {machine, driver});
  while (rows.step()) {
    result.push_back(next_roof(rows));
  }
  return result;
}

std::int64_t Journal::add_profile(const Profile& profile, const ProfileContext& context) {
  Transaction transaction(self_->database);
  const std::int64_t machine = self_->machine_row(context.machine);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO profile (iteration, experiment, machine, configuration, source, workload, rung, missing, conditions,"
      " floor_ns, floor_roof, time_ns, floor_fraction, at)"
      " VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {Value::reference(context.iteration), Value::reference(context.experiment), machine,
       self_->configuration_row(profile.configuration), context.source_hash, profile.workload, profile.rung,
       profile.missing, profile.conditions, profile.floor_ns, profile.floor_roof, profile.time_ns,
       profile.floor_fraction, time_or_now("")});
  int position = 0;
  for (const Metric& metric : profile.metrics) {
    self_->database.run(
        "INSERT INTO metric (profile, position, name, value, unit, lower, upper, samples) VALUES (?, ?, ?, ?, ?, ?, ?, "
        "?)",
        {id, position++, metric.name, metric.value, metric.unit, metric.lower, metric.upper, metric.samples});
  }
  write_samples(self_->database, id, profile);
  position = 0;
  for (const Roof& roof : profile.roofs) {
    self_->database.run("INSERT INTO profile_roof (profile, position, roof) VALUES (?, ?, ?)",
                        {id, position++, roof_row(self_->database, machine, roof)});
  }
  transaction.commit();
  return id;
}

std::vector<Profile> Journal::profiles_of_iteration(std::int64_t iteration) {
  return profiles_where(*self_, "iteration = ?", {iteration});
}

std::optional<Profile> Journal::newest_profile(const Configuration& configuration, const std::string& workload,
                                               const ProfileContext& context) {
  std::vector<Profile> found = profiles_where(
      *self_,
      "id = (SELECT max(p.id) FROM profile p JOIN configuration c ON c.id = p.configuration"
      " JOIN machine m ON m.id = p.machine WHERE c.variant = ? AND c.settings = ? AND p.workload = ? AND m.key = ?"
      " AND p.source = ?)",
      {configuration.variant, encode(configuration.settings), workload, context.machine, context.source_hash});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<ProfileRow> Journal::profile_rows(const std::string& variant) {
  std::vector<ProfileRow> found;
  Statement rows = self_->database.query(
      "SELECT p.id, p.configuration, m.key, coalesce(p.source, ''), p.workload, p.conditions, p.at"
      " FROM profile p JOIN configuration c ON c.id = p.configuration JOIN machine m ON m.id = p.machine"
      " WHERE c.variant = ? ORDER BY p.id DESC",
      {variant});
  while (rows.step()) {
    ProfileRow row;
    row.id = rows.integer();
    row.configuration = self_->configuration(rows.integer());
    row.machine = rows.text();
    row.source_hash = rows.text();
    row.workload = rows.text();
    row.conditions = rows.text();
    row.at = rows.text();
    found.push_back(std::move(row));
  }
  return found;
}

Profile Journal::profile(std::int64_t id) {
  std::vector<Profile> found = profiles_where(*self_, "id = ?", {id});
  if (found.empty()) {
    throw UserError(fmt::format("the journal has no profile {}", id));
  }
  return std::move(found.front());
}

}  // namespace apo
