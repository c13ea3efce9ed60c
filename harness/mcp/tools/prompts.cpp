// harness/mcp/tools/prompts.cpp - texts.
#include "harness/mcp/tools/prompts.h"

#include <fmt/format.h>

namespace apo::mcp {
namespace {

constexpr const char* kOptimise = R"(Make the kernel family '{0}' faster{1}.

1. Call `brief`: it names the incumbent, its bottlenecks, what was refuted, and techniques that nobody has written.
   Call `list` with the family for its contract: axes, tensors, workloads, variants. Read the incumbent's source at
   apo://source/FAMILY/NAME.
2. Write one candidate with one idea. Put the block of lines `// apo:variant {0}/NAME`, `// apo:technique`, `// apo:idea`
   and `// apo:predict 1.1x..1.3x over parent: why` at its top, and predict before you measure.
3. Call `evaluate` with the family{2} and the file. While its state is `running`, call `wait` with the job.
4. Read verdict, score and feedback. `wrong`: mend what the failed gate says. `reverted` or `inconclusive`: read
   `lessons`, compare with your prediction, and try another idea. `accepted`: go on from the new incumbent.
5. Claim nothing but the score: it is the lower end of the interval of the speed-up, against the incumbent, on this
   machine.)";

}  // namespace

std::string instructions() {
  return "apo judges compute kernels: it checks a candidate against an fp64 reference, times it against the incumbent "
         "of "
         "this machine in interleaved rounds, and keeps a journal of every attempt. Start with 'brief', judge with "
         "'evaluate', and claim no speed-up that it did not confirm. Calls that take minutes answer with a job in "
         "state "
         "'running': call 'wait' with it.";
}

Json prompt_documents() {
  const Json family = {
      {"name", "family"}, {"description", "kernel family; the tool 'list' shows them"}, {"required", true}};
  const Json workload = {
      {"name", "workload"}, {"description", "workload of the family (default: its first one)"}, {"required", false}};
  return Json::array({{{"name", "optimise"},
                       {"title", "Make a kernel faster"},
                       {"description", "The loop of an improvement: brief, one idea, evaluate, lessons"},
                       {"arguments", Json::array({family, workload})}}});
}

std::string prompt_text(const std::string&, const Json& arguments) {
  for (const auto& [name, value] : arguments.items()) {
    if ((name != "family" && name != "workload") || !value.is_string()) {
      throw ProtocolError(kInvalidParams, "the prompt takes the strings 'family' and 'workload'");
    }
  }
  const std::string family = arguments.value("family", "");
  if (family.empty()) {
    throw ProtocolError(kInvalidParams, "the prompt needs the argument 'family'");
  }
  const std::string workload = arguments.value("workload", "");
  return fmt::format(kOptimise, family, workload.empty() ? "" : " on its workload '" + workload + "'",
                     workload.empty() ? "" : ", the workload");
}

}  // namespace apo::mcp
