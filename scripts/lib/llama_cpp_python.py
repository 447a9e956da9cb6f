"""The server of llama-cpp-python, on loopback: python llama_cpp_python.py CONFIG.

A request that ends in an exception, such as one that is too large, leaves the server's lock to the garbage collector;
until that runs, every further request hangs. So it is made to run.
"""

import gc
import sys
import threading
import time


def collect():
    while True:
        time.sleep(0.5)
        gc.collect()


threading.Thread(target=collect, daemon=True).start()
sys.argv = ["llama_cpp.server", "--config_file", sys.argv[1]]

from llama_cpp.server.__main__ import main  # noqa: E402  (reads sys.argv)

main()
