#!/bin/sh
# What a chain saves on a session, and what it did to one of its messages.
cd "$(dirname "$0")/../.." || exit
# [run]
whittle replay tool/examples/session.jsonl --config tool/examples/chain.json | head -n 2
whittle explain tool/examples/session.jsonl --config tool/examples/chain.json --call 10 | grep -A 3 "^    3 "
whittle check tool/examples/session.jsonl
# [/run]
