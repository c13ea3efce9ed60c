# tests/summary.awk - reads what ctest logged: how many tests were skipped and why, and how to run each one that failed.
# A test of a GoogleTest program is skipped with its reason on the line after "Skipped".
/^Command: "/ { split($0, part, "\""); program = part[2] }
/: Skipped$/ { if ((getline reason) > 0) last_reason = reason == "" ? "no reason given" : reason; next }
/^skipped [^ ]+: / { sub(/^skipped [^ ]+: /, ""); skipped++; count[$0]++; next }  # a test in Python
# The list at the end of a program repeats the names, without a time.
/^\[  SKIPPED \] .* \([0-9]+ ms\)$/ { skipped++; count[last_reason]++ }
/^\[  FAILED  \] .* \([0-9]+ ms\)$/ {
  name = $4
  sub(/,$/, "", name)
  failed = failed "  " program " --gtest_filter='" name "'\n"
}
# A program that ended within a test says nothing behind it.
/^\[ RUN      \]/ { running = $4 }
/^\[       OK \]|^\[  SKIPPED \]|^\[  FAILED  \]/ { running = "" }
/^Test (Failed|Timeout)/ || /^end time:/ {
  if (running != "") failed = failed "  " program " --gtest_filter='" running "'  # did not end\n"
  running = ""
}
END {
  if (skipped) {
    printf "%d tests were skipped:\n", skipped
    for (reason in count) printf "%5d  %s\n", count[reason], reason
  }
  if (failed != "") printf "What failed, by itself:\n%s", failed
}
