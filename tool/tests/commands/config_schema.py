"""Holds the schema of `whittle config schema` against the reader: config_schema.py WHITTLE SOURCE_DIR.

What the reader takes, the schema takes; what is broken in one key, both refuse. Needs the package jsonschema; without it
the only line is "skipped: ...".
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError as reason:
    print(f"skipped: {reason}")
    sys.exit(0)

whittle, source = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments, text=None):
    return subprocess.run([whittle, *arguments], input=text, capture_output=True, text=True)


def reader_takes(config):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(config))
        file.flush()
        return run("config", "check", file.name).returncode == 0


def configurations():
    """Those of the documentation, the examples and the fuzzers' corpus, and each preset, named and written out."""
    files = [source / "tool/agent/chain.json", *sorted((source / "extensions/config/fuzz/corpus/config_json").glob("*.json"))]
    texts = [(str(file), file.read_text(errors="replace")) for file in files]
    for page in sorted(page for pages in ("docs/*.md", "extensions/*/README.md", "tool/docs/*.md") for page in source.glob(pages)):
        for block in re.findall(r"```json\n(.*?)```", page.read_text(), re.S):
            if '"middlewares"' in block or '"preset"' in block:
                texts.append((str(page.relative_to(source)), block))
    for preset in ("recommended", "lossless", "local", "cheap"):
        texts.append((preset, json.dumps({"preset": preset})))
        for window in ("8000", "200000"):
            texts.append((preset, run("config", "show", "--preset", preset, "--window", window).stdout))
    for name, text in texts:
        try:
            yield name, json.loads(text)
        except ValueError:
            pass  # a broken one of the corpus


def resolved(schema, value):
    """The schema of an object, its branch by `type` or `counter` included."""
    if "$ref" in schema:
        schema = whole_schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    for branch in schema.get("allOf", []):
        if isinstance(value, dict) and Draft202012Validator(branch["if"]).is_valid(value):
            return branch["then"]
    for branch in schema.get("anyOf", []):
        if branch.get("type") == "object":
            return branch
    return schema


def breakages(schema, value, path=()):
    """(path, wrong value) for every key of every object in `value`, those that are not there too."""
    schema = resolved(schema, value)
    if not isinstance(value, dict) or "properties" not in schema:
        return
    yield (*path, "no_such_key"), 1
    for key, of_key in schema["properties"].items():
        yield (*path, key), [[[None]]]
        for branch in [of_key, *of_key.get("anyOf", [])]:
            if "enum" in branch:
                yield (*path, key), "no such word"
            if "minimum" in branch and branch is of_key:
                yield (*path, key), branch["minimum"] - 1
            if "maximum" in branch and branch is of_key:
                yield (*path, key), branch["maximum"] + 1
        if key in value and isinstance(value[key], dict):
            yield from breakages(of_key, value[key], (*path, key))
        if key == "middlewares" and key in value:
            for i, entry in enumerate(value[key]):
                yield from breakages(of_key["items"], entry, (*path, key, i))


def with_value(config, path, value):
    config = copy.deepcopy(config)
    at = config
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return config


whole_schema = json.loads(run("config", "schema").stdout)
Draft202012Validator.check_schema(whole_schema)
validator = Draft202012Validator(whole_schema)
taken = broken = tried = 0
for name, config in configurations():
    if not reader_takes(config):
        continue
    taken += 1
    for error in validator.iter_errors(config):
        sys.exit(f"{name}: the reader takes it, the schema does not: {list(error.absolute_path)}: {error.message}")

# One configuration with an entry of every type, the reader's word on each breakage and the schema's.
types = [branch["then"]["properties"]["type"]["const"]
         for branch in whole_schema["properties"]["middlewares"]["items"]["allOf"]]
whole = {
    "profile": {"context_window": 200000, "prices": {"input": 1, "output": 2}, "cache": {"read": 0.1}},
    "tokens": {"counter": "chars"}, "limits": {"model_calls": 3}, "storage": {"type": "file", "root": "store"},
    "models": {"m": {"type": "scripted", "replies": ["x"]},
               "h": {"type": "openai", "model": "x", "base_url": "http://127.0.0.1:1"}},
    "middlewares": [{"type": name, **({"model": "m"} if name in ("summarization", "compaction") else {})}
                    for name in types if name != "pruning"] + [{"type": "pruning", "name": "p"}],
}
for error in validator.iter_errors(whole):
    sys.exit(f"the whole: {list(error.absolute_path)}: {error.message}")
if not reader_takes(whole):
    sys.exit("the reader refuses the whole")
for path, value in breakages(whole_schema, whole):
    if path[-1] in ("extra", "type", "counter"):
        continue  # any object; and another type is another schema
    config = with_value(whole, path, value)
    broken += 1
    if validator.is_valid(config):
        sys.exit(f"the schema takes {'.'.join(map(str, path))} = {value}")
    if broken % 7 == 0:  # a process each
        tried += 1
        if reader_takes(config):
            sys.exit(f"the reader takes {'.'.join(map(str, path))} = {value}")
print(f"{taken} configurations taken by both, {broken} breakages refused by the schema, {tried} of them tried on the reader")
sys.exit(0 if taken >= 15 and broken >= 300 and tried >= 40 else "too few of them")
