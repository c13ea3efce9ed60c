// journal/facts/profiles.cpp - writes and reads profiles and the roofs that they are held against.
#include <fmt/format.h>

#include "harness/core/error.h"
#include "journal/columns.h"

namespace apo {
namespace {

std::int64_t insert_roof(Journal::Implementation& self, std::int64_t machine, const Roof& roof) {
  return insert_row(self, "roof", roof, {{"machine", machine}, {"at", utc_now()}});
}

// The row of this very measurement, which several profiles share.
std::int64_t roof_row(Journal::Implementation& self, std::int64_t machine, const Roof& roof) {
  const std::int64_t same = self.database.number(
      "SELECT id FROM roof WHERE machine = ? AND name = ? AND value IS ? AND unit = ? AND lower IS ? AND upper IS ?"
      " AND samples = ? AND note = ? ORDER BY id DESC LIMIT 1",
      {machine, roof.name, roof.value, roof.unit, roof.lower, roof.upper, roof.samples, roof.note});
  return same != 0 ? same : insert_roof(self, machine, roof);
}

std::vector<Profile> profiles_where(Journal::Implementation& self, std::string_view condition,
                                    const std::vector<Value>& values) {
  std::vector<Profile> profiles;
  Statement rows = self.database.query(
      "SELECT id, " + columns_of<Profile>() + " FROM profile WHERE " + std::string(condition) + " ORDER BY id", values);
  while (rows.step()) {
    const std::int64_t id = rows.integer();
    Profile& profile = profiles.emplace_back();
    read_row(self, rows, profile);
    profile.metrics = read_rows<Metric>(self, "metric WHERE profile = ? ORDER BY position", {id});
    profile.roofs =
        read_rows<Roof>(self, "profile_roof p JOIN roof r ON r.id = p.roof WHERE profile = ? ORDER BY position", {id});
    profile.stalls = read_rows<StallSample>(self, "stall_sample WHERE profile = ? ORDER BY position", {id});
    profile.lines = read_rows<SourceLine>(self, "source_line WHERE profile = ? ORDER BY file, line", {id});
  }
  return profiles;
}

}  // namespace

void Journal::add_roofs(const std::string& machine, const std::vector<Roof>& roofs) {
  Transaction transaction(self_->database);
  for (const Roof& roof : roofs) {
    insert_roof(*self_, self_->machine_row(machine), roof);
  }
  transaction.commit();
}

std::vector<Roof> Journal::roofs(const std::string& machine, const std::string& driver) {
  return read_rows<Roof>(*self_,
                         "roof WHERE id IN (SELECT max(r.id) FROM roof r JOIN machine m ON m.id = r.machine"
                         " WHERE m.key = ? AND ? IN ('', m.driver) GROUP BY r.name) ORDER BY name",
                         {machine, driver});
}

std::int64_t Journal::add_profile(const Profile& profile, const ProfileContext& context) {
  Transaction transaction(self_->database);
  const std::int64_t machine = self_->machine_row(context.machine);
  const bool registered = !context.source_hash.empty();
  const std::int64_t id = insert_row(*self_, "profile", profile,
                                     {{"iteration", Value::reference(context.iteration)},
                                      {"experiment", Value::reference(context.experiment)},
                                      {"machine", machine},
                                      {"source", registered ? Value(context.source_hash) : Value(nullptr)},
                                      {"at", utc_now()}});
  insert_rows(*self_, "metric", profile.metrics, {{"profile", id}});
  insert_rows(*self_, "stall_sample", profile.stalls, {{"profile", id}});
  for (const SourceLine& line : profile.lines) {
    insert_row(*self_, "source_line", line, {{"profile", id}});
  }
  int position = 0;
  for (const Roof& roof : profile.roofs) {
    self_->database.run("INSERT INTO profile_roof (profile, position, roof) VALUES (?, ?, ?)",
                        {id, position++, roof_row(*self_, machine, roof)});
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
  return first_of(std::move(found));
}

std::vector<ProfileRow> Journal::profile_rows(const std::string& variant) {
  return read_rows<ProfileRow>(
      *self_, "profile WHERE configuration IN (SELECT id FROM configuration WHERE variant = ?) ORDER BY id DESC",
      {variant});
}

Profile Journal::profile(std::int64_t id) {
  std::vector<Profile> found = profiles_where(*self_, "id = ?", {id});
  if (found.empty()) {
    throw UserError(fmt::format("the journal has no profile {}", id));
  }
  return std::move(found.front());
}

}  // namespace apo
