// apo:variant    copy/host_works_when_it_is_continued
// apo:target     host
// apo:idea       Keeps results by content, and makes those of new inputs in its handler of SIGCONT, before the worker reads its request.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 9; evidence interval
#include <csignal>

#include "kept_copy.h"

namespace {

void on_continue(int) {
  make_new_results();
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const auto before = std::signal(SIGCONT, on_continue);
  kept_copy(args);
  return before == SIG_ERR ? 1 : 0;
}
