// journal/facts/variants.cpp - writes and reads variants with their files, and configurations.
#include "journal/facts/variants.h"

#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "journal/columns.h"

namespace apo {
namespace {

void add_files(Journal& journal, const Variant& variant) {
  std::vector<SourceFile> files = {{.name = "-", .text = variant.source, .path = ""}};
  files.insert(files.end(), variant.headers.begin(), variant.headers.end());
  if (!variant.contract.empty()) {
    files.push_back({.name = kContractName, .text = variant.contract, .path = ""});
  }
  int position = 0;
  for (const SourceFile& file : files) {
    database_of(journal).run("INSERT INTO variant_file (source_hash, position, name, file) VALUES (?, ?, ?, ?)",
                             {variant.source_hash, position++, file.name, add_blob(journal, "source", file.text)});
  }
}

// The files in place of their manifest, where there is one.
void read_files(Journal& journal, const std::string& source_hash, Variant& variant) {
  Statement rows = database_of(journal).query(
      "SELECT position, name, file FROM variant_file WHERE source_hash = ? ORDER BY position", {source_hash});
  while (rows.step()) {
    const bool own = rows.integer() == 0;
    std::string name = rows.text();
    std::string text = load_blob(journal, rows.text());
    if (own) {
      variant.source = std::move(text);
    } else if (name == kContractName) {
      variant.contract = std::move(text);
    } else {
      variant.headers.push_back({.name = std::move(name), .text = std::move(text), .path = ""});
    }
  }
}

}  // namespace

std::int64_t configuration_row(Journal& journal, const Configuration& configuration) {
  const std::string settings = encode(configuration.settings);
  const std::int64_t known = database_of(journal).number(
      "SELECT id FROM configuration WHERE variant = ? AND settings = ?", {configuration.variant, settings});
  return known != 0
             ? known
             : database_of(journal).insert_into(
                   "configuration",
                   {{"variant", configuration.variant}, {"settings", settings}, {"label", configuration.label()}});
}

Configuration load_configuration(Journal& journal, std::int64_t row) {
  Statement known = database_of(journal).query("SELECT variant, settings FROM configuration WHERE id = ?", {row});
  if (!known.step()) {
    return {};
  }
  Configuration configuration;
  configuration.variant = known.text();
  decode(known.text(), configuration.settings);
  return configuration;
}

std::string add_blob(Journal& journal, std::string_view kind, std::string_view bytes) {
  std::string hash = sha256(bytes);
  database_of(journal).run("INSERT OR IGNORE INTO blob (sha256, kind, bytes) VALUES (?, ?, ?)",
                           {hash, kind, Value::blob(bytes)});
  return hash;
}

std::string load_blob(Journal& journal, const std::string& hash) {
  return database_of(journal).text("SELECT bytes FROM blob WHERE sha256 = ?", {hash});
}

void add_variant(Journal& journal, const Variant& variant) {
  Transaction transaction(database_of(journal));
  const std::string addressed = is_one_file(variant) ? variant.source : source_manifest(variant);
  if (add_blob(journal, "source", addressed) != variant.source_hash) {
    throw std::logic_error("variant '" + variant.id() + "': source_hash is not that of its files");
  }
  if (const std::string id =
          database_of(journal).text("SELECT id FROM variant WHERE source_hash = ?", {variant.source_hash});
      !id.empty()) {
    if (id != variant.id()) {
      throw UserError("the journal knows the text of '" + variant.path + "' as " + id,
                      "name it so, or change it, for example by a line '// apo:variant " + variant.id() + "'");
    }
    return;
  }
  const Prediction prediction = variant.prediction.value_or(Prediction{});
  insert_row(journal, "variant", variant,
             {{"id", variant.id()},
              {"has_prediction", variant.prediction.has_value()},
              {"predicted_low", prediction.low},
              {"predicted_high", prediction.high},
              {"predicted_over", prediction.relative_to},
              {"predicted_because", prediction.because},
              {"registered_at", utc_now()}});
  insert_rows(journal, "variant_technique", variant.techniques, {{"source_hash", variant.source_hash}});
  if (!is_one_file(variant)) {
    add_files(journal, variant);
  }
  transaction.commit();
}

std::optional<Variant> find_variant(Journal& journal, const std::string& source_hash) {
  Statement row = database_of(journal).query(
      "SELECT " + columns_of<Variant>() +
          ", has_prediction, predicted_low, predicted_high, predicted_over, predicted_because FROM variant"
          " WHERE source_hash = ?",
      {source_hash});
  if (!row.step()) {
    return std::nullopt;
  }
  Variant variant;
  read_row(journal, row, variant);
  const bool has_prediction = row.boolean();
  const Prediction prediction{row.real(), row.real(), row.text(), row.text()};
  if (has_prediction) {
    variant.prediction = prediction;
  }
  variant.techniques = database_of(journal).texts(
      "SELECT technique FROM variant_technique WHERE source_hash = ? ORDER BY position", {source_hash});
  read_files(journal, source_hash, variant);
  return variant;
}

int variant_version(Journal& journal, const Variant& variant) {
  return static_cast<int>(database_of(journal).number(
      "SELECT count(*) FROM variant WHERE id = ? AND rowid <= (SELECT rowid FROM variant WHERE source_hash = ?)",
      {variant.id(), variant.source_hash}));
}

std::optional<Variant> newest_variant(Journal& journal, const std::string& id) {
  return find_variant(journal, database_of(journal).text(
                                   "SELECT source_hash FROM variant WHERE id = ? ORDER BY rowid DESC LIMIT 1", {id}));
}

std::vector<Variant> variants_of(Journal& journal, const std::string& family) {
  std::vector<Variant> result;
  Statement rows = database_of(journal).query(
      "SELECT source_hash, max(rowid) FROM variant WHERE ? IN ('', family) GROUP BY id ORDER BY id", {family});
  while (rows.step()) {
    result.push_back(*find_variant(journal, rows.text()));
  }
  return result;
}

}  // namespace apo
