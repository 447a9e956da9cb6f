"""The port for vcpkg is of one piece, by vcpkg's rules for a manifest as far as this one needs them: names, versions, known keys, the
order that `vcpkg format-manifest` makes; and the version is CMake's, the features are those of the portfile.

    check_port.py [PORT]    prints each fault, and ends with 1 if there is one
"""

import json
import pathlib
import re
import sys

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
KEYS = "name version-semver description homepage license supports dependencies default-features features".split()
DEPENDENCY_KEYS = "name host default-features features platform version>=".split()
FEATURE_KEYS = "description supports dependencies license".split()


def faults_of_dependencies(where, dependencies):
    names = []
    for dependency in dependencies:
        entry = {"name": dependency} if isinstance(dependency, str) else dependency
        names.append(entry.get("name", ""))
        for key in entry:
            if key not in DEPENDENCY_KEYS:
                yield f"{where}: {names[-1]}: unknown key {key}"
        for name in [names[-1], *entry.get("features", [])]:
            if not NAME.fullmatch(name):
                yield f"{where}: {name!r} is no name"
        if not isinstance(dependency, str) and len(entry) == 1:
            yield f"{where}: {names[-1]} is written as an object, and is a name only"
    if names != sorted(set(names)):
        yield f"{where}: its dependencies are not sorted, or one is there twice"


def faults_of_manifest(manifest):
    for key in KEYS:
        if key not in manifest and key != "homepage":
            yield f"{key} is missing"
    for key in manifest:
        if key not in KEYS:
            yield f"unknown key {key}"
    features = manifest.get("features", {})
    if list(features) != sorted(features):
        yield "the features are not sorted"
    for name, feature in features.items():
        if not NAME.fullmatch(name) or name in ("core", "default"):
            yield f"{name!r} is no name of a feature"
        for key in feature:
            if key not in FEATURE_KEYS:
                yield f"feature {name}: unknown key {key}"
        if not feature.get("description"):
            yield f"feature {name} has no description"
        yield from faults_of_dependencies(f"feature {name}", feature.get("dependencies", []))
    for name in manifest.get("default-features", []):
        if name not in features:
            yield f"default-features: there is no feature {name}"
    yield from faults_of_dependencies("the port", manifest.get("dependencies", []))


def faults(port, root):
    manifest = json.loads((port / "vcpkg.json").read_text())
    yield from faults_of_manifest(manifest)
    version = re.search(r"^  VERSION ([0-9.]+)$", (root / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    if manifest.get("version-semver") != version:
        yield f"vcpkg.json has the version {manifest.get('version-semver')}, CMakeLists.txt {version}"
    portfile = (port / "portfile.cmake").read_text()
    options = dict(re.findall(r"^    ([a-z0-9-]+) (WHITTLE_[A-Z_]+)$", portfile, re.MULTILINE))
    if list(options) != list(manifest["features"]):
        yield f"the features of portfile.cmake are {' '.join(options)}, those of vcpkg.json {' '.join(manifest['features'])}"
    for name, option in options.items():
        if name != "tool" and (option != f"WHITTLE_{name.upper()}" or not (root / "extensions" / name).is_dir()):
            yield f"the feature {name} is no extension with the option {option}"


def main():
    port = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "whittle"
    found = list(faults(port, pathlib.Path(__file__).parents[2]))
    print("\n".join(found) or "the port is of one piece")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
