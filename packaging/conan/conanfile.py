"""whittle for Conan 2, from the checkout that this file lies in: `conan create packaging/conan`. Beside a conandata.yml that
has `sources` for the version, as in a registry, from the archive that it names instead."""

import os
import re
import shutil

from conan import ConanFile
from conan.errors import ConanException, ConanInvalidConfiguration
from conan.tools.build import valid_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, load
from conan.tools.scm import Version

required_conan_version = ">=2.0.9"

# Extensions that need a library: the option, which is -DWHITTLE_<OPTION> too, and what it requires.
NEEDS = {
    "http": "libcurl/[>=7.68]",
    "sqlite": "sqlite3/[>=3.37]",
    "redis": "hiredis/[>=0.14]",
    "encryption": "libsodium/[>=1.0.18]",
    "spdlog": "spdlog/[>=1.10]",
}
# What only the program `whittle` needs.
TOOL_NEEDS = ("cli11/[>=2.1]", "zlib/[>=1.2.11]", "zstd/[>=1.5]", NEEDS["sqlite"])
COMPILERS = {"gcc": "12", "clang": "14", "msvc": "193"}


class WhittleConan(ConanFile):
    name = "whittle"
    description = "Agent-context middlewares: keeps the message history of an LLM agent small, valid, cheap and recoverable"
    license = "Apache-2.0"
    topics = ("llm", "agents", "context", "messages")
    package_type = "static-library"
    no_copy_source = True
    settings = "os", "arch", "compiler", "build_type"
    # Neither shared nor fPIC: the libraries are static, and always position-independent.
    options = {"tool": [True, False], **{name: [True, False] for name in NEEDS}}
    default_options = {"tool": False, **{name: name == "http" for name in NEEDS}}

    @property
    def _has_archive(self):
        return str(self.version) in (self.conan_data or {}).get("sources", {})

    def set_version(self):
        lists = os.path.join(self.recipe_folder, "..", "..", "CMakeLists.txt")
        if not os.path.exists(os.path.join(os.path.dirname(lists), "include", "whittle", "whittle.hpp")):
            return
        of_checkout = re.search(r"^  VERSION ([0-9.]+)$", load(self, lists), re.MULTILINE).group(1)
        if self.version and self.version != of_checkout:
            raise ConanException(f"this checkout is whittle/{of_checkout}, not {self.version}: leave the version out")
        self.version = of_checkout

    def export_sources(self):
        if self._has_archive:
            return
        root = os.path.join(self.recipe_folder, "..", "..")
        if not os.path.exists(os.path.join(root, "include", "whittle", "whittle.hpp")):
            raise ConanException(f"whittle/{self.version}: neither a checkout around this recipe nor `sources` for the version in conandata.yml")
        for name in ("CMakeLists.txt", "LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"):
            shutil.copy(os.path.join(root, name), self.export_sources_folder)
        for folder in ("cmake", "include", "src", "docs", "extensions", "tool", "bench", "packaging"):
            pattern = "*.md" if folder in ("bench", "packaging") else "*"
            excludes = ("tests/*", "*/tests/*", "*/fuzz/*", "*/node_modules/*")
            copy(self, pattern, os.path.join(root, folder), os.path.join(self.export_sources_folder, folder), excludes=excludes)

    def source(self):
        if self._has_archive:
            get(self, **self.conan_data["sources"][str(self.version)], strip_root=True)

    def layout(self):
        if not self._has_archive:
            self.folders.root = os.path.join("..", "..")
        cmake_layout(self)

    def requirements(self):
        # The headers of both reach whoever takes whittle::header_only, those of nlohmann_json who takes whittle::provider.
        self.requires("fmt/[>=9]", transitive_headers=True)
        self.requires("nlohmann_json/[>=3.11]", transitive_headers=True)
        wanted = [NEEDS[name] for name in NEEDS if self.options.get_safe(name)]
        for reference in sorted({*wanted, *(TOOL_NEEDS if self.options.tool else ())}):
            # What the tool alone needs reaches no consumer.
            self.requires(reference, transitive_headers=reference == NEEDS["spdlog"], visible=reference in wanted)

    def validate(self):
        if self.settings.get_safe("compiler.cppstd") and not valid_min_cppstd(self, 20):
            raise ConanInvalidConfiguration(
                f"whittle needs C++20, and this profile asks for {self.settings.compiler.cppstd}: add -s compiler.cppstd=20, or "
                "-s whittle/*:compiler.cppstd=20 for whittle alone"
            )
        compiler = str(self.settings.compiler)
        if compiler in COMPILERS and Version(self.settings.compiler.version) < COMPILERS[compiler]:
            raise ConanInvalidConfiguration(
                f"whittle needs {compiler} {COMPILERS[compiler]} or newer, and this profile has {compiler} {self.settings.compiler.version}"
            )

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        for what in ("TESTS", "EXTRA_TESTS", "EXAMPLES", "BENCH", "FUZZ"):
            toolchain.cache_variables[f"WHITTLE_BUILD_{what}"] = False
        toolchain.cache_variables["WHITTLE_BUILD_APPS"] = bool(self.options.tool)
        for name in NEEDS:
            toolchain.cache_variables[f"WHITTLE_{name.upper()}"] = bool(self.options.get_safe(name))
        # Conan brings all of it: what is not found is an error and no download.
        toolchain.cache_variables["FETCHCONTENT_FULLY_DISCONNECTED"] = True
        toolchain.generate()
        deps = CMakeDeps(self)
        # Their newer major versions serve, which the version ranges above say too.
        for package in ("fmt", "libcurl"):
            deps.set_property(package, "cmake_config_version_compat", "AnyNewerVersion")
        deps.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        installed = os.listdir(os.path.join(self.package_folder, "lib", "cmake", "whittle"))
        for name in NEEDS:
            if self.options.get_safe(name) and f"whittle{name.capitalize()}Targets.cmake" not in installed:
                raise ConanException(f"the option {name} is on, and CMake did not find {NEEDS[name]}: its line `whittle::{name} is left out`")
        if self.options.tool and not os.path.isdir(os.path.join(self.package_folder, "bin")):
            raise ConanException("the option tool is on, and CMake left the tool out: its line says why")

    def package_info(self):
        # For CMake the package's own whittleConfig.cmake, which finds what it needs among what CMakeDeps made.
        self.cpp_info.set_property("cmake_find_mode", "none")
        # For other generators a component for each module of pkg-config that was installed; the first leads CMake to the above.
        folder = os.path.join(self.package_folder, "lib", "pkgconfig")
        for file in sorted(os.listdir(folder)):
            self._add_component(file[: -len(".pc")], load(self, os.path.join(folder, file)))

    def _add_component(self, module, text):
        component = self.cpp_info.components[module.removeprefix("whittle-")]
        component.set_property("pkg_config_name", module)
        component.libs = re.findall(r"-l(\S+)", text)
        if module == "whittle":
            component.builddirs = [os.path.join("lib", "cmake", "whittle")]
            component.system_libs = ["pthread"] if self.settings.os in ("Linux", "FreeBSD") else []
        # `Requires: whittle = 0.1.0, whittle-provider = 0.1.0, libcurl`: modules of others are called as Conan's packages are.
        required = re.search(r"^Requires: (.*)$", text, re.MULTILINE)
        for other in [part.split()[0] for part in required.group(1).split(",")] if required else []:
            component.requires.append(other.removeprefix("whittle-") if other.startswith("whittle") else f"{other}::{other}")
        if module == "whittle-provider":
            component.requires.append("nlohmann_json::nlohmann_json")
