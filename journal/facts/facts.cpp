// journal/facts/facts.cpp - writes machines, toolchains, variants, configurations, roofs, profiles and briefs.
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/records/sources.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

constexpr std::string_view kMachineColumns =
    "key, target, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts";

Target target_from(std::string_view text) {
  return text == "cuda" ? Target::cuda : Target::host;
}

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

std::vector<std::string> techniques_of(Database& database, const std::string& source_hash) {
  std::vector<std::string> techniques;
  Statement rows =
      database.query("SELECT technique FROM variant_technique WHERE source_hash = ? ORDER BY position", {source_hash});
  while (rows.step()) {
    techniques.push_back(rows.text());
  }
  return techniques;
}

void add_files(Journal::Implementation& self, const Variant& variant) {
  std::vector<SourceFile> files = {{.name = "-", .text = variant.source, .path = ""}};
  files.insert(files.end(), variant.headers.begin(), variant.headers.end());
  int position = 0;
  for (const SourceFile& file : files) {
    self.database.run("INSERT INTO variant_file (source_hash, position, name, file) VALUES (?, ?, ?, ?)",
                      {variant.source_hash, position++, file.name, self.add_blob("source", file.text)});
  }
}

// The files in place of their manifest, where there is one.
void read_files(Journal::Implementation& self, const std::string& source_hash, Variant& variant) {
  Statement rows = self.database.query(
      "SELECT position, name, file FROM variant_file WHERE source_hash = ? ORDER BY position", {source_hash});
  while (rows.step()) {
    const bool own = rows.integer() == 0;
    std::string name = rows.text();
    std::string text = self.blob(rows.text());
    if (own) {
      variant.source = std::move(text);
    } else {
      variant.headers.push_back({.name = std::move(name), .text = std::move(text), .path = ""});
    }
  }
}

void add_ranked(Journal::Implementation& self, std::int64_t iteration, int position, const Candidate& candidate) {
  self.database.run(
      "INSERT INTO ranking (iteration, left_out, position, configuration, techniques, predicted_low, predicted_high,"
      " predicted_over, predicted_because, attacks, score, why, origin) VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {iteration, position, self.configuration_row(candidate.configuration), encode(candidate.techniques),
       candidate.prediction.low, candidate.prediction.high, candidate.prediction.relative_to,
       candidate.prediction.because, candidate.attacks, candidate.score, candidate.why, to_string(candidate.origin)});
}

void add_left_out(Journal::Implementation& self, std::int64_t iteration, int position, const LeftOut& left_out) {
  self.database.run(
      "INSERT INTO ranking (iteration, left_out, position, configuration, techniques, predicted_over,"
      " predicted_because, attacks, why, origin) VALUES (?, 1, ?, ?, '[]', '', '', '', ?, '')",
      {iteration, position, self.configuration_row(left_out.configuration), left_out.why});
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
  if (!profile.conditions.empty()) {
    database.run("INSERT INTO profile_condition (profile, conditions) VALUES (?, ?)", {id, profile.conditions});
  }
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
      " coalesce((SELECT conditions FROM profile_condition c WHERE c.profile = profile.id), '')"
      " FROM profile WHERE " +
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

// ---------------------------------------------------------------- shared rows

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

std::int64_t Journal::Implementation::configuration_row(const Configuration& configuration) {
  const std::string settings = encode(configuration.settings);
  Statement known = database.query("SELECT id FROM configuration WHERE variant = ? AND settings = ?",
                                   {configuration.variant, settings});
  if (known.step()) {
    return known.integer();
  }
  return database.insert("INSERT INTO configuration (variant, settings, label) VALUES (?, ?, ?)",
                         {configuration.variant, settings, configuration.label()});
}

Configuration Journal::Implementation::configuration(std::int64_t row) {
  Statement known = database.query("SELECT variant, settings FROM configuration WHERE id = ?", {row});
  if (!known.step()) {
    return {};
  }
  Configuration configuration;
  configuration.variant = known.text();
  configuration.settings = decode_settings(known.text());
  return configuration;
}

std::int64_t Journal::Implementation::toolchain_row(const Toolchain& toolchain) {
  Statement known = database.query("SELECT id FROM toolchain WHERE compiler = ? AND version = ?",
                                   {toolchain.compiler, toolchain.version});
  return known.step() ? known.integer()
                      : database.insert("INSERT INTO toolchain (compiler, version) VALUES (?, ?)",
                                        {toolchain.compiler, toolchain.version});
}

std::string Journal::Implementation::add_blob(std::string_view kind, std::string_view bytes) {
  std::string hash = sha256(bytes);
  database.run("INSERT OR IGNORE INTO blob (sha256, kind, bytes) VALUES (?, ?, ?)", {hash, kind, Value::blob(bytes)});
  return hash;
}

std::string Journal::Implementation::blob(const std::string& hash) {
  Statement row = database.query("SELECT bytes FROM blob WHERE sha256 = ?", {hash});
  return row.step() ? row.text() : "";
}

// ---------------------------------------------------------------- machines and variants

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

void Journal::add_variant(const Variant& variant) {
  Transaction transaction(self_->database);
  const bool alone = variant.headers.empty();
  const std::string addressed = alone ? variant.source : source_manifest(variant.source, variant.headers);
  if (self_->add_blob("source", addressed) != variant.source_hash) {
    throw std::logic_error("variant '" + variant.id() + "': source_hash is not that of its files");
  }
  Statement known = self_->database.query("SELECT id FROM variant WHERE source_hash = ?", {variant.source_hash});
  if (known.step()) {
    if (const std::string id = known.text(); id != variant.id()) {
      throw UserError("the journal knows the text of '" + variant.path + "' as " + id,
                      "name it so, or change it, for example by a line '// apo:variant " + variant.id() + "'");
    }
    return;
  }
  const Prediction prediction = variant.prediction.value_or(Prediction{});
  self_->database.run(
      "INSERT INTO variant (source_hash, id, family, name, target, arch, parent, idea, has_prediction, predicted_low,"
      " predicted_high, predicted_over, predicted_because, requires, tunables, scratch, launches, path, registered_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {variant.source_hash, variant.id(), variant.family, variant.name, to_string(variant.target), variant.arch,
       variant.parent, variant.idea, variant.prediction.has_value(), prediction.low, prediction.high,
       prediction.relative_to, prediction.because, variant.requires_expression, encode(variant.tunables),
       encode(variant.scratch), encode(variant.launches), variant.path, time_or_now("")});
  int position = 0;
  for (const std::string& technique : variant.techniques) {
    self_->database.run("INSERT INTO variant_technique (source_hash, position, technique) VALUES (?, ?, ?)",
                        {variant.source_hash, position++, technique});
  }
  if (!alone) {
    add_files(*self_, variant);
  }
  transaction.commit();
}

std::optional<Variant> Journal::variant(const std::string& source_hash) {
  Statement row = self_->database.query(
      "SELECT family, name, target, arch, parent, idea, has_prediction, predicted_low, predicted_high, predicted_over,"
      " predicted_because, requires, tunables, scratch, launches, path FROM variant WHERE source_hash = ?",
      {source_hash});
  if (!row.step()) {
    return std::nullopt;
  }
  Variant variant;
  variant.family = row.text();
  variant.name = row.text();
  variant.target = target_from(row.text());
  variant.arch = row.text();
  variant.parent = row.text();
  variant.idea = row.text();
  const bool has_prediction = row.boolean();
  const Prediction prediction{row.real(), row.real(), row.text(), row.text()};
  if (has_prediction) {
    variant.prediction = prediction;
  }
  variant.requires_expression = row.text();
  variant.tunables = decode_tunables(row.text());
  variant.scratch = decode_scratch(row.text());
  variant.launches = decode_launches(row.text());
  variant.path = row.text();
  variant.techniques = techniques_of(self_->database, source_hash);
  variant.source = self_->blob(source_hash);
  read_files(*self_, source_hash, variant);
  variant.source_hash = source_hash;
  return variant;
}

int Journal::variant_version(const Variant& variant) {
  Statement row = self_->database.query(
      "SELECT count(*) FROM variant WHERE id = ? AND rowid <= (SELECT rowid FROM variant WHERE source_hash = ?)",
      {variant.id(), variant.source_hash});
  row.step();
  return row.small();
}

std::optional<Variant> Journal::newest_variant(const std::string& id) {
  Statement row =
      self_->database.query("SELECT source_hash FROM variant WHERE id = ? ORDER BY rowid DESC LIMIT 1", {id});
  return row.step() ? variant(row.text()) : std::nullopt;
}

std::vector<Variant> Journal::variants(const std::string& family) {
  std::vector<Variant> result;
  Statement rows = self_->database.query(
      "SELECT source_hash, max(rowid) FROM variant WHERE ? IN ('', family) GROUP BY id ORDER BY id", {family});
  while (rows.step()) {
    result.push_back(*variant(rows.text()));
  }
  return result;
}

// ---------------------------------------------------------------- profile and research

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
      "INSERT INTO profile (iteration, experiment, machine, configuration, source, workload, rung, missing, floor_ns,"
      " floor_roof, time_ns, floor_fraction, at) VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?)",
      {Value::reference(context.iteration), Value::reference(context.experiment), machine,
       self_->configuration_row(profile.configuration), context.source_hash, profile.workload, profile.rung,
       profile.missing, profile.floor_ns, profile.floor_roof, profile.time_ns, profile.floor_fraction,
       time_or_now("")});
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

void Journal::add_brief(std::int64_t iteration, const ResearchBrief& brief) {
  Transaction transaction(self_->database);
  int position = 0;
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    self_->database.run("INSERT INTO bottleneck (iteration, position, name, evidence, bound) VALUES (?, ?, ?, ?, ?)",
                        {iteration, position, bottleneck.name, bottleneck.evidence, bottleneck.bound});
    self_->database.run("INSERT INTO bottleneck_place (iteration, position, kind, file, line) VALUES (?, ?, ?, ?, ?)",
                        {iteration, position++, to_string(bottleneck.kind), bottleneck.file, bottleneck.line});
  }
  position = 0;
  for (const Candidate& candidate : brief.ranked) {
    add_ranked(*self_, iteration, position++, candidate);
  }
  position = 0;
  for (const LeftOut& left_out : brief.left_out) {
    add_left_out(*self_, iteration, position++, left_out);
  }
  transaction.commit();
}

ResearchBrief Journal::brief(std::int64_t iteration) {
  ResearchBrief brief;
  Statement bottlenecks = self_->database.query(
      "SELECT name, evidence, bound, kind, file, line FROM iteration_bottlenecks WHERE iteration = ? ORDER BY position",
      {iteration});
  while (bottlenecks.step()) {
    brief.bottlenecks.push_back({.name = bottlenecks.text(),
                                 .evidence = bottlenecks.text(),
                                 .bound = bottlenecks.real(),
                                 .kind = bottleneck_kind_from(bottlenecks.text()),
                                 .file = bottlenecks.text(),
                                 .line = bottlenecks.small()});
  }
  Statement rows = self_->database.query(
      "SELECT left_out, configuration, techniques, predicted_low, predicted_high, predicted_over, predicted_because,"
      " attacks, score, why, origin FROM ranking WHERE iteration = ? ORDER BY left_out, position",
      {iteration});
  while (rows.step()) {
    const bool left_out = rows.boolean();
    Candidate candidate;
    candidate.configuration = self_->configuration(rows.integer());
    candidate.techniques = decode_list(rows.text());
    candidate.prediction = with_source({rows.real(), rows.real(), rows.text(), rows.text()});
    candidate.attacks = rows.text();
    candidate.score = rows.real();
    candidate.why = rows.text();
    const std::string origin = rows.text();
    if (left_out) {
      brief.left_out.push_back({std::move(candidate.configuration), std::move(candidate.why)});
    } else {
      candidate.origin = known(origin_from(origin), origin);
      brief.ranked.push_back(std::move(candidate));
    }
  }
  return brief;
}

}  // namespace apo
