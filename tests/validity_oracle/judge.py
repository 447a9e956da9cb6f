"""The verdict of oracle.py on histories that come from elsewhere: judge.py FILE, one JSON object a line, one verdict a line."""

import json
import sys

import oracle

LIMITS = {"max_images": 100, "max_image_bytes": 5 * 1024 * 1024}

with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        case = json.loads(line)
        print(json.dumps(oracle.judge(case["shape"], case["profile"], case["messages"], LIMITS)))
