// journal/facts/research/scans.cpp - a row for each measurement of a scan.
#include "journal/facts/research/scans.h"

#include "journal/columns.h"

namespace apo {

APO_COLUMNS_AS(Scanned,
               "id, (SELECT key FROM machine WHERE machine.id = scanned.machine), family, workload, cache_policy,"
               " configuration, source_hash, incumbent, incumbent_source, build_key, resources, level, outcome,"
               " evidence, pairs, time_ns, incumbent_ns, effect, sd, seconds",
               id, place.machine, place.family, place.workload, place.cache, configuration, source_hash, incumbent,
               incumbent_source_hash, build_key, resources, level, times.outcome, times.evidence, times.pairs,
               times.time_ns, times.incumbent_ns, times.effect, times.sd, seconds)

std::int64_t add_scanned(Journal& journal, const Scanned& scanned) {
  Transaction transaction(database_of(journal));
  const std::int64_t id = insert_row(journal, "scanned", scanned,
                                     {{"machine", machine_row(journal, scanned.place.machine)}, {"at", utc_now()}});
  if (scanned.worker != 0) {
    database_of(journal).insert_into("scanned_by", {{"scanned", id}, {"worker", scanned.worker}});
  }
  transaction.commit();
  return id;
}

std::vector<Scanned> scanned_at(Journal& journal, const ScanPlace& place) {
  if (database_of(journal).number("SELECT count(*) FROM machine WHERE key = ?", {place.machine}) == 0) {
    return {};
  }
  return read_rows<Scanned>(
      journal,
      "scanned WHERE machine IN (SELECT other.id FROM machine JOIN machine other USING (target, model, cores, kernel,"
      " governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts) WHERE machine.id = ?)"
      " AND family = ? AND workload = ? AND cache_policy = ? ORDER BY id",
      {machine_row(journal, place.machine), place.family, place.workload, std::string_view(to_string(place.cache))});
}

}  // namespace apo
