#!/bin/sh
# A report of a chain: the figures at its head.
cd "$(dirname "$0")/../.." || exit
# [run]
whittle replay tool/examples/session.jsonl --config tool/examples/chain.json --html - |
  grep '<p class="lead">' | sed 's/<[^>]*>//g; s/\. /.\n/g'
# [/run]
