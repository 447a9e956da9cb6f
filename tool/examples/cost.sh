#!/bin/sh
# What a chain does to the prompt cache.
cd "$(dirname "$0")/../.." || exit
# [run]
whittle replay tool/examples/session.jsonl --config tool/examples/chain.json --all | grep -A 5 "^input tokens"
# [/run]
