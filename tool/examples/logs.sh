#!/bin/sh
# What a log of Claude Code says was billed.
cd "$(dirname "$0")/../.." || exit
# [run]
COLUMNS=100 whittle scan --bill tool/tests/logs/fixtures/claude_code.jsonl | head -n 7
# [/run]
