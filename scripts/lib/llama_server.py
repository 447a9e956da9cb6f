"""llama.cpp's own server, from the wheel `xllamacpp`, on loopback: python llama_server.py MODEL PORT THREADS."""

import sys
import time

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.cpuparams.n_threads = int(sys.argv[3])
parameters.cpuparams_batch.n_threads = int(sys.argv[3])
parameters.n_ctx = 2048
parameters.n_parallel = 1
parameters.ctx_shift = False  # a reply that meets the end of the window ends there
parameters.warmup = False
parameters.verbosity = 1
server = xllamacpp.Server(parameters)
print("listens on", server.listening_address, flush=True)
while True:
    time.sleep(1)
