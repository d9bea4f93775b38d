#!/bin/sh
# get-open: open loop, 21500.5 requests/s, poisson arrivals, 50 connections, warm-up 1s, window 1.1s for vegeta, written by gonogo 0.1.0.
# Run: sh FILE >vegeta.json; then gonogo import --engine vegeta vegeta.json
#
# Not expressed here:
# - fresh server processes, shuffled blocks, the A/A twin and the server's CPU time are not vegeta's: start the server anew before each run yourself
# - ids: from the same range, but not in gonogo's order
# - latency: vegeta counts it from the send, not from when a request was due: waiting in the generator does not show
# - random ids: vegeta goes round through a list in which each id stands once, shuffled by the seed
# - right answers: vegeta reads no body, and any status from 200 to 399 is a success to it; look at status_codes and bytes_in
# - poisson arrivals: vegeta spaces requests evenly, so its tail is shorter
set -eu
targets=$(mktemp)
trap 'rm -f "$targets"' EXIT
cat >"$targets" <<'END_OF_TARGETS'
{"method":"GET","url":"http://10.0.0.1:8080/users/3"}
{"method":"GET","url":"http://10.0.0.1:8080/users/1"}
{"method":"GET","url":"http://10.0.0.1:8080/users/2"}
END_OF_TARGETS
vegeta attack -format=json -targets="$targets" -rate=21500500/1000s -workers=50 -max-workers=50 -connections=50 -max-connections=50 -timeout=5000ms -redirects=-1 -duration=1000ms >/dev/null
vegeta attack -format=json -targets="$targets" -rate=21500500/1000s -workers=50 -max-workers=50 -connections=50 -max-connections=50 -timeout=5000ms -redirects=-1 -duration=1100ms | vegeta report -type=json
