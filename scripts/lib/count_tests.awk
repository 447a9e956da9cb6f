# awk -v counts=FOLDER -f count_tests.awk JUNIT_FILE: "total PASSED FAILED SKIPPED", and a line "skipped NAME: REASON" for each
# that was skipped. A suite counts by its test cases, which tests/support/main.cpp wrote to FOLDER/NAME.txt, anything else as one.
function attribute(name,    text) {
  text = $0
  if (!sub(".*[[:space:]]" name "=\"", "", text)) return ""
  sub("\".*", "", text)
  return text
}
function finish(    file, line, of_suite, reason) {
  if (name == "") return
  file = counts "/" name ".txt"
  while ((getline line < file) > 0) {
    if (match(line, /^(passed|failed|skipped) /)) of_suite[substr(line, 1, RLENGTH - 1)] = substr(line, RLENGTH + 1)
    if (sub(/^reason /, "", line)) print "skipped " name ": " line
  }
  close(file)
  if ("passed" in of_suite) {
    passed += of_suite["passed"]; failed += of_suite["failed"]; skipped += of_suite["skipped"]
    if (status == "fail" && of_suite["failed"] == 0) ++failed
  } else if (status == "run") {
    ++passed
  } else if (status == "fail") {
    ++failed
  } else {
    ++skipped
    reason = said
    sub(/.*skipped: */, "", reason)
    print "skipped " name ": " (reason == "" ? "not run" : reason)
  }
  name = ""
}
/<testcase / { finish(); name = attribute("name"); status = attribute("status"); said = "" }
/skipped: / && said == "" { said = $0; sub(/.*<system-out>/, "", said); sub(/<\/system-out>.*/, "", said) }
END { finish(); print "total", passed + 0, failed + 0, skipped + 0 }
