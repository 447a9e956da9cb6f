#!/bin/sh
# A chain beside simple strategies.
cd "$(dirname "$0")/../.." || exit
# [run]
COLUMNS=100 whittle compare tool/examples/session.jsonl --config tool/examples/chain.json \
  --strategy noop --strategy mask10 --strategy mask10_step10 | sed -n 3,10p
# [/run]
