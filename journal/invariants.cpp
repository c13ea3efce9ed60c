// journal/invariants.cpp - the conditions that hold between the rows of any journal, however its writers died.
#include <fmt/format.h>

#include <cmath>

#include "journal/implementation.h"

namespace apo {
namespace {

struct Invariant {
  const char* says;
  const char* breaches;  // SELECT of the experiments, or other ids, for which it does not hold
};

// One row of a table each, in a transaction of its own or together with what it needs: so a kill breaks none of these.
constexpr Invariant kInvariants[] = {
    {"a timed verdict has the rounds that it counts",
     "SELECT j.experiment FROM judgement j WHERE j.speedup IS NOT NULL AND j.rounds >"
     " (SELECT count(*) FROM round r WHERE r.experiment = j.experiment AND r.void_why = '')"},
    {"a timed verdict has the builds of both sides, and they succeeded",
     "SELECT j.experiment FROM judgement j WHERE j.speedup IS NOT NULL AND"
     " (SELECT count(*) FROM build b WHERE b.experiment = j.experiment AND b.outcome = 'valid') < 2"},
    {"an accepted candidate was timed and passed every gate",
     "SELECT j.experiment FROM judgement j WHERE j.verdict = 'accepted' AND (j.speedup IS NULL OR EXISTS"
     " (SELECT 1 FROM gate g WHERE g.experiment = j.experiment AND g.outcome <> 'valid'))"},
    {"a candidate that failed a gate is reverted",
     "SELECT experiment FROM judgement WHERE outcome <> 'valid' AND verdict = 'accepted'"},
    {"the gates of an experiment are numbered from 0 without a hole",
     "SELECT experiment FROM gate GROUP BY experiment HAVING max(position) <> count(*) - 1 OR min(position) <> 0"},
    {"every round was measured on a workload",
     "SELECT coalesce(r.experiment, r.id) FROM round r WHERE r.comparison IS NULL AND r.void_why = '' AND NOT EXISTS"
     " (SELECT 1 FROM round_workload w WHERE w.round = r.id)"},
    {"an experiment has its workloads",
     "SELECT e.id FROM experiment e WHERE NOT EXISTS (SELECT 1 FROM experiment_workload w WHERE w.experiment = e.id)"},
    {"an experiment of an iteration belongs to that iteration's campaign",
     "SELECT e.id FROM experiment e JOIN iteration i ON i.id = e.iteration WHERE e.campaign IS NOT i.campaign"},
    {"an experiment of a campaign is of the campaign's family and class",
     "SELECT e.id FROM experiment e JOIN campaign c ON c.id = e.campaign"
     " WHERE e.family <> c.family OR e.workload_class <> c.workload_class"},
    {"a candidate is judged against what its campaign accepted last, or the baseline",
     "SELECT e.id FROM experiment e JOIN campaign c ON c.id = e.campaign WHERE e.iteration IS NOT NULL"
     " AND e.incumbent <> coalesce((SELECT x.candidate FROM experiment x JOIN judgement j ON j.experiment = x.id"
     " WHERE x.campaign = e.campaign AND x.id < e.id AND j.verdict = 'accepted' ORDER BY x.id DESC LIMIT 1), "
     "c.baseline)"
     " AND NOT EXISTS (SELECT 1 FROM certification z WHERE z.campaign = e.campaign AND z.alarm = 1)"},
    {"what an ended iteration tried is finished or abandoned",
     "SELECT e.id FROM experiment e JOIN iteration_end z ON z.iteration = e.iteration WHERE NOT EXISTS"
     " (SELECT 1 FROM judgement j WHERE j.experiment = e.id) AND NOT EXISTS"
     " (SELECT 1 FROM abandonment a WHERE a.experiment = e.id)"},
    {"the iterations of an ended campaign are ended or abandoned",
     "SELECT i.id FROM iteration i JOIN campaign_end z ON z.campaign = i.campaign WHERE NOT EXISTS"
     " (SELECT 1 FROM iteration_end y WHERE y.iteration = i.id) AND NOT EXISTS"
     " (SELECT 1 FROM abandonment a WHERE a.iteration = i.id)"},
    {"a certification that knows of the clock has the solo runs that say so",
     "SELECT c.certification FROM certification_clock c WHERE 4 * c.blocks >"
     " (SELECT count(*) FROM certification_solo_run s WHERE s.certification = c.certification)"},
    {"what is finished is not abandoned",
     "SELECT j.experiment FROM judgement j JOIN abandonment a ON a.experiment = j.experiment"},
    {"a lesson says what its experiment found",
     "SELECT l.experiment FROM lesson l LEFT JOIN judgement j ON j.experiment = l.experiment"
     " WHERE l.experiment IS NOT NULL AND j.verdict IS NOT l.verdict"},
    {"a verdict on two commands has the rounds that it counts",
     "SELECT v.comparison FROM comparison_verdict v JOIN comparison c ON c.id = v.comparison WHERE"
     " c.kind = 'commands' AND v.rounds > (SELECT count(*) FROM round r WHERE r.comparison = v.comparison AND"
     " r.void_why = '' AND r.stage <> 'sentinel')"},
    {"a comparison's verdict is one of its purpose",
     "SELECT c.id FROM comparison c JOIN comparison_verdict v ON v.comparison = c.id WHERE"
     " (c.purpose = 'gate') <> (v.gate IS NOT NULL)"},
    {"what failed in a comparison is not accepted",
     "SELECT comparison FROM comparison_verdict WHERE outcome <> 'valid' AND (gate = 'passed' OR verdict = "
     "'accepted')"},
    {"a verdict by an application has the pairs that it counts",
     "SELECT f.comparison FROM comparison_figure f WHERE f.view <> 'rounds' AND f.kind = 'speed' AND 2 * f.count >"
     " (SELECT count(*) FROM comparison_run r WHERE r.comparison = f.comparison AND r.view = f.view AND"
     " r.outcome = 'valid')"},
    {"what an application accepts was timed and kept its quality",
     "SELECT v.comparison FROM comparison_verdict v JOIN comparison c ON c.id = v.comparison WHERE"
     " c.kind = 'application' AND v.verdict = 'accepted' AND (v.rounds = 0 OR EXISTS (SELECT 1 FROM"
     " comparison_figure f WHERE f.comparison = v.comparison AND f.view = 'fixed_steps' AND f.finding IN"
     " ('worse', 'inconclusive')))"},
    {"a run of an application has metrics where it is valid, and evidence where it is not",
     "SELECT comparison FROM comparison_run WHERE (outcome = 'valid') <> (evidence = '') OR"
     " (outcome = 'valid') = (metrics = '{}')"},
    {"the runs of an application are numbered from 0 without a hole",
     "SELECT comparison FROM comparison_run GROUP BY comparison HAVING max(position) <> count(*) - 1 OR"
     " min(position) <> 0"},
    {"an experiment of a job began after it",
     "SELECT x.experiment FROM job_experiment x JOIN job j ON j.id = x.job JOIN experiment e ON e.id = x.experiment"
     " WHERE e.started_at < j.started_at"},
    {"an answered placement is an experiment of its candidate against its incumbent, with its number and prediction",
     "SELECT z.experiment FROM placement_end z JOIN placement p ON p.id = z.placement JOIN experiment e ON"
     " e.id = z.experiment WHERE e.candidate <> p.candidate OR e.incumbent <> p.incumbent OR e.idx <> p.idx OR"
     " (p.replicates IS NULL AND (e.iteration IS NOT p.iteration OR e.predicted_low IS NOT p.predicted_low OR"
     " e.predicted_high IS NOT p.predicted_high))"},
    {"what a worker judged was measured on its device",
     "SELECT z.experiment FROM placement_end z JOIN placement p ON p.id = z.placement JOIN worker w ON w.id = p.worker"
     " JOIN experiment e ON e.id = z.experiment JOIN machine m ON m.id = e.machine"
     " JOIN machine h ON h.id = w.machine WHERE m.key <> h.key"},
    {"a number of a campaign is that of one experiment alone",
     "SELECT max(e.id) FROM experiment e JOIN judgement j ON j.experiment = e.id JOIN placement_end z ON"
     " z.experiment = e.id WHERE e.campaign IS NOT NULL GROUP BY e.campaign, e.idx HAVING count(*) > 1"},
    {"the workers of an ended campaign have ended",
     "SELECT w.id FROM worker w JOIN campaign_end z ON z.campaign = w.campaign WHERE w.id NOT IN"
     " (SELECT worker FROM worker_end)"},
    {"what workers were given in an iteration is over when it ends",
     "SELECT p.id FROM placement p JOIN iteration_end z ON z.iteration = p.iteration WHERE p.id NOT IN"
     " (SELECT placement FROM placement_end)"},
    {"a job that is done has a document", "SELECT job FROM job_end WHERE state = 'done' AND NOT json_valid(document)"},
    {"a source is stored with the variant that it is of",
     "SELECT v.source_hash FROM variant v LEFT JOIN blob b ON b.sha256 = v.source_hash WHERE b.kind IS NOT 'source'"},
    {"a variant with headers has its own file, and all of them",
     "SELECT source_hash FROM variant_file GROUP BY source_hash HAVING min(position) <> 0 OR"
     " max(position) + 1 <> count(*) OR count(*) < 2"},
};

std::string finding_of(Database& database, const Invariant& invariant) {
  constexpr int kNamed = 5;
  std::string ids;
  int count = 0;
  Statement rows = database.query(invariant.breaches);
  while (rows.step()) {
    ids += count < kNamed ? (count == 0 ? "" : ", ") + rows.text() : "";
    ++count;
  }
  const char* more = count > kNamed ? ", ..." : "";
  return count == 0 ? "" : fmt::format("not so that {}: {} rows, {}{}", invariant.says, count, ids, more);
}

// Columns that repeat what others imply.
std::string wrong_speedup(Database& database) {
  Statement rows = database.query("SELECT experiment, effect, speedup FROM judgement WHERE speedup IS NOT NULL");
  while (rows.step()) {
    const std::int64_t experiment = rows.integer();
    const double implied = std::exp(rows.real());
    if (!(std::abs(rows.real() / implied - 1) < 1e-9)) {
      return fmt::format("not so that a speed-up is what its effect says: experiment {}", experiment);
    }
  }
  return "";
}

}  // namespace

void Journal::visit_rounds(const std::function<void(const std::string& owner, const Round& round)>& visit) {
  for (const std::string kind : {"experiment", "certification", "sentinel", "comparison"}) {
    Statement owners =
        self_->database.query("SELECT DISTINCT " + kind + " FROM round WHERE " + kind + " IS NOT NULL ORDER BY 1");
    while (owners.step()) {
      const std::int64_t id = owners.integer();
      for (const Round& round : rounds_of(*this, kind, id)) {
        visit(fmt::format("{} {}", kind, id), round);
      }
    }
  }
}

std::vector<std::string> Journal::check_invariants() {
  std::vector<std::string> findings;
  for (const Invariant& invariant : kInvariants) {
    if (std::string finding = finding_of(self_->database, invariant); !finding.empty()) {
      findings.push_back(std::move(finding));
    }
  }
  if (std::string finding = wrong_speedup(self_->database); !finding.empty()) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace apo
