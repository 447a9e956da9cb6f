#!/usr/bin/env bash
# Lets the example agent work in a scratch copy of this repository, then replays the session that it recorded.
#   demo.sh BUILD_DIR [--keep]
# Everything happens below one temporary folder, which is removed at the end (with --keep it stays and is named). It
# needs no key and no network.
set -eu

usage() {
  echo "usage: $0 BUILD_DIR [--keep]" >&2
  exit 2
}

keep=no build=
for argument in "$@"; do
  case $argument in
    --keep) keep=yes ;;
    -*) usage ;;
    *) if [ -n "$build" ]; then usage; else build=$argument; fi ;;
  esac
done
[ -n "$build" ] || usage

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$build" && pwd)

# find_program NAME: the built program NAME.
find_program() {
  local found
  found=$(find "$build" -type f -name "$1" -perm -u+x -not -path '*/CMakeFiles/*' | head -n 1)
  if [ -z "$found" ]; then
    echo "demo.sh: there is no program \"$1\" below $build: build it first (scripts/demo does)" >&2
    exit 1
  fi
  echo "$found"
}
agent=$(find_program whittle_agent)
whittle=$(find_program whittle)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/whittle-demo.XXXXXX")
scratch=$(cd "$scratch" && pwd -P)
clean_up() {
  if [ "$keep" = yes ]; then
    echo "kept: $scratch"
  else
    rm -rf "$scratch"
  fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$scratch/repository" "$scratch/home" "$scratch/tmp"
# Whatever the agent's commands write, they write here; git looks at no settings but its own defaults.
export HOME="$scratch/home" TMPDIR="$scratch/tmp" XDG_CONFIG_HOME="$scratch/home" GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# The files of the working copy, also those not committed yet; without git, everything but builds and hidden files.
copy_sources() {
  if git -C "$source" -c safe.directory="$source" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$source" -c safe.directory="$source" ls-files -z --cached --others --exclude-standard |
      (cd "$source" && while IFS= read -r -d '' file; do if [ -f "$file" ]; then printf '%s\0' "$file"; fi; done) |
      tar -C "$source" --null -T - -cf -
  else
    tar -C "$source" --exclude './build*' --exclude './.*' -cf - .
  fi | tar -C "$scratch/repository" -xf -
}

copy_sources
cp "$source/tool/agent/chain.json" "$scratch/chain.json"
(
  cd "$scratch/repository"
  git init -q .
  git add -A
  git -c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false commit -q -m "Scratch copy"
)

echo "== The agent at work, in a copy of this repository"
"$agent" --workspace "$scratch/repository" --config "$scratch/chain.json" --session "$scratch/session.jsonl" --id demo --check

echo
echo "== The session that it recorded, replayed with the same chain: before (recorded) and after (sent)"
"$whittle" replay "$scratch/session.jsonl" --config "$scratch/chain.json"
