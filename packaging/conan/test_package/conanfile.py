"""A program that takes whittle from the package, with each extension that is on, and prints its version."""

import io
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout

EXTENSIONS = ("http", "sqlite", "redis", "encryption", "spdlog")


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str, run=True)  # the tool, where there is one

    def layout(self):
        cmake_layout(self)

    def generate(self):
        options = self.dependencies["whittle"].options
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["WHITTLE_COMPONENTS"] = ";".join(name for name in EXTENSIONS if options.get_safe(name))
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        # Beside this file where it came in a release, in a checkout where the other consumers are.
        shared = os.path.join("..", "..", "consumer", "components")
        cmake.configure(build_script_folder=shared if os.path.isdir(os.path.join(self.source_folder, shared)) else None)
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        output = io.StringIO()
        self.run(os.path.join(self.cpp.build.bindir, "consumer"), stdout=output, env="conanrun")
        version = str(self.dependencies["whittle"].ref.version)
        if output.getvalue().strip() != version:
            raise ConanException(f"the program printed {output.getvalue()!r}, and the package is {version}")
        if self.dependencies["whittle"].options.tool:
            self.run("whittle --version", env="conanrun")
