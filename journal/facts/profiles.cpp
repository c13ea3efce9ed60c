// journal/facts/profiles.cpp - writes and reads profiles and the roofs that they are held against.
#include "journal/facts/profiles.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "journal/columns.h"

namespace apo {

APO_COLUMNS_AS(ProfileRow,
               "id, configuration, (SELECT key FROM machine WHERE machine.id = profile.machine), source, workload,"
               " conditions, at",
               id, configuration, machine, source_hash, workload, conditions, at)

namespace {

std::int64_t insert_roof(Journal& journal, std::int64_t machine, const Roof& roof) {
  return insert_row(journal, "roof", roof, {{"machine", machine}, {"at", utc_now()}});
}

// The row of this very measurement, which several profiles share.
std::int64_t roof_row(Journal& journal, std::int64_t machine, const Roof& roof) {
  const std::int64_t same = database_of(journal).number(
      "SELECT id FROM roof WHERE machine = ? AND name = ? AND value IS ? AND unit = ? AND lower IS ? AND upper IS ?"
      " AND samples = ? AND note = ? ORDER BY id DESC LIMIT 1",
      {machine, roof.name, roof.value, roof.unit, roof.lower, roof.upper, roof.samples, roof.note});
  return same != 0 ? same : insert_roof(journal, machine, roof);
}

std::vector<Profile> profiles_where(Journal& journal, std::string_view condition, const std::vector<Value>& values) {
  std::vector<Profile> profiles;
  Statement rows = database_of(journal).query(
      "SELECT id, " + columns_of<Profile>() + " FROM profile WHERE " + std::string(condition) + " ORDER BY id", values);
  while (rows.step()) {
    const std::int64_t id = rows.integer();
    Profile& profile = profiles.emplace_back();
    read_row(journal, rows, profile);
    profile.metrics = read_rows<Metric>(journal, "metric WHERE profile = ? ORDER BY position", {id});
    profile.roofs = read_rows<Roof>(
        journal, "profile_roof p JOIN roof r ON r.id = p.roof WHERE profile = ? ORDER BY position", {id});
    profile.stalls = read_rows<StallSample>(journal, "stall_sample WHERE profile = ? ORDER BY position", {id});
    profile.lines = read_rows<SourceLine>(journal, "source_line WHERE profile = ? ORDER BY file, line", {id});
    profile.launches = read_rows<ProfiledLaunch>(journal, "profiled_launch WHERE profile = ? ORDER BY position", {id});
  }
  return profiles;
}

}  // namespace

void add_roofs(Journal& journal, const std::string& machine, const std::vector<Roof>& roofs) {
  Transaction transaction(database_of(journal));
  for (const Roof& roof : roofs) {
    insert_roof(journal, machine_row(journal, machine), roof);
  }
  transaction.commit();
}

std::vector<Roof> roofs_of(Journal& journal, const std::string& machine, const std::string& driver) {
  return read_rows<Roof>(journal,
                         "roof WHERE id IN (SELECT max(r.id) FROM roof r JOIN machine m ON m.id = r.machine"
                         " WHERE m.key = ? AND ? IN ('', m.driver) GROUP BY r.name) ORDER BY name",
                         {machine, driver});
}

std::int64_t add_profile(Journal& journal, const Profile& profile, const ProfileContext& context) {
  Transaction transaction(database_of(journal));
  const std::int64_t machine = machine_row(journal, context.machine);
  const bool registered = !context.source_hash.empty();
  const std::int64_t id = insert_row(journal, "profile", profile,
                                     {{"iteration", Value::reference(context.iteration)},
                                      {"experiment", Value::reference(context.experiment)},
                                      {"machine", machine},
                                      {"source", registered ? Value(context.source_hash) : Value(nullptr)},
                                      {"at", utc_now()}});
  insert_rows(journal, "metric", profile.metrics, {{"profile", id}});
  insert_rows(journal, "stall_sample", profile.stalls, {{"profile", id}});
  insert_rows(journal, "profiled_launch", profile.launches, {{"profile", id}});
  for (const SourceLine& line : profile.lines) {
    insert_row(journal, "source_line", line, {{"profile", id}});
  }
  int position = 0;
  for (const Roof& roof : profile.roofs) {
    database_of(journal).run("INSERT INTO profile_roof (profile, position, roof) VALUES (?, ?, ?)",
                             {id, position++, roof_row(journal, machine, roof)});
  }
  transaction.commit();
  return id;
}

std::vector<Profile> profiles_of_iteration(Journal& journal, std::int64_t iteration) {
  return profiles_where(journal, "iteration = ?", {iteration});
}

std::optional<Profile> newest_profile(Journal& journal, const Configuration& configuration, const std::string& workload,
                                      const ProfileContext& context) {
  std::vector<Profile> found = profiles_where(
      journal,
      "id = (SELECT max(p.id) FROM profile p JOIN configuration c ON c.id = p.configuration"
      " JOIN machine m ON m.id = p.machine WHERE c.variant = ? AND c.settings = ? AND p.workload = ? AND m.key = ?"
      " AND p.source = ?)",
      {configuration.variant, encode(configuration.settings), workload, context.machine, context.source_hash});
  return first_of(std::move(found));
}

std::vector<ProfileRow> profile_rows(Journal& journal, const std::string& variant) {
  return read_rows<ProfileRow>(
      journal, "profile WHERE configuration IN (SELECT id FROM configuration WHERE variant = ?) ORDER BY id DESC",
      {variant});
}

Profile load_profile(Journal& journal, std::int64_t id) {
  std::vector<Profile> found = profiles_where(journal, "id = ?", {id});
  if (found.empty()) {
    throw UserError(fmt::format("the journal has no profile {}", id));
  }
  return std::move(found.front());
}

}  // namespace apo
