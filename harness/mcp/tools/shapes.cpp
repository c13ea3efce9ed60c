// harness/mcp/tools/shapes.cpp - leaves out and counts; invents nothing.
#include "harness/mcp/tools/shapes.h"

namespace apo::mcp {

Json without_steps(Json document) {
  if (document.contains("gates") && document["gates"].is_array()) {
    for (Json& gate : document["gates"]) {
      if (gate.is_object()) {
        gate.erase("steps");
      }
    }
  }
  if (document.contains("experiment") && document["experiment"].is_object()) {
    document["experiment"] = without_steps(document["experiment"]);
  }
  return document;
}

Json overview(const Json& document) {
  Json families = Json::array();
  for (const Json& family : document.value("families", Json::array())) {
    Json workloads = Json::array();
    for (const Json& workload : family.value("workloads", Json::array())) {
      workloads.push_back(workload.value("name", ""));
    }
    families.push_back({{"name", family.value("name", "")},
                        {"summary", family.value("summary", "")},
                        {"workloads", workloads},
                        {"variants", family.value("variants", Json::array()).size()}});
  }
  Json shorter = document;
  shorter["families"] = families;
  return shorter;
}

Json without_rounds(Json document) {
  document.erase("rounds");
  return document;
}

}  // namespace apo::mcp
