"""A library of Debian as a package of Conan, for machines that reach no registry: `conan create packaging/conan/system --name
fmt`. The version is the installed one's. Nothing is in it but where CMake finds the library; whittle's tests use it."""

import re
import subprocess

from conan import ConanFile
from conan.errors import ConanException, ConanInvalidConfiguration

# By Conan's name: Debian's package, CMake's package and target, what the linker needs.
LIBRARIES = {
    "cli11": ("libcli11-dev", "CLI11", "CLI11::CLI11", []),
    "fmt": ("libfmt-dev", "fmt", "fmt::fmt", ["fmt"]),
    "hiredis": ("libhiredis-dev", "hiredis", "hiredis::hiredis", ["hiredis"]),
    "libcurl": ("libcurl4-openssl-dev", "CURL", "CURL::libcurl", ["curl"]),
    "libsodium": ("libsodium-dev", "libsodium", "libsodium::libsodium", ["sodium"]),
    "nlohmann_json": ("nlohmann-json3-dev", "nlohmann_json", "nlohmann_json::nlohmann_json", []),
    "spdlog": ("libspdlog-dev", "spdlog", "spdlog::spdlog", ["spdlog", "fmt"]),
    "sqlite3": ("libsqlite3-dev", "SQLite3", "SQLite::SQLite3", ["sqlite3"]),
    "zlib": ("zlib1g-dev", "ZLIB", "ZLIB::ZLIB", ["z"]),
    "zstd": ("libzstd-dev", "zstd", "zstd::libzstd_shared", ["zstd"]),
}


def installed_version(package):
    """Upstream's, of the installed package of Debian; an empty text if there is none."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    try:
        output = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError as error:
        raise ConanException("there is no dpkg-query here: system packages are known on Debian and its kin only") from error
    found = re.fullmatch(r"installed (?:\d+:)?(\d+(?:\.\d+)*).*", output)
    return found[1] if found else ""


class SystemConan(ConanFile):
    description = "A library that the system's package manager has installed"
    license = "see /usr/share/doc"
    package_type = "shared-library"
    settings = "os", "arch"

    def set_version(self):
        if self.name not in LIBRARIES:
            raise ConanException(f"--name {self.name}: no such library here, but {', '.join(LIBRARIES)}")
        package = LIBRARIES[self.name][0]
        installed = installed_version(package)
        if not installed:
            raise ConanException(f"{self.name} is not installed: apt-get install {package}")
        if self.version and self.version != installed:
            raise ConanException(f"{package} is {installed}, not {self.version}")
        self.version = installed

    def validate(self):
        package = LIBRARIES[self.name][0]
        installed = installed_version(package)
        if installed != str(self.version):
            raise ConanInvalidConfiguration(f"{package} {self.version} is not installed, {installed or 'nothing'} is: apt-get install {package}")

    def package_info(self):
        _, file, target, libraries = LIBRARIES[self.name]
        self.cpp_info.set_property("cmake_file_name", file)
        self.cpp_info.set_property("cmake_target_name", target)
        self.cpp_info.set_property("cmake_find_mode", "both")
        self.cpp_info.set_property("pkg_config_name", self.name)
        self.cpp_info.includedirs = self.cpp_info.libdirs = self.cpp_info.bindirs = []
        self.cpp_info.system_libs = libraries
        if self.name == "spdlog":
            self.cpp_info.defines = ["SPDLOG_COMPILED_LIB", "SPDLOG_SHARED_LIB", "SPDLOG_FMT_EXTERNAL"]
