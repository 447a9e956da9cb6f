#pragma once

#include "whittle/base/error.hpp"
#include "whittle/logs/logs.hpp"

#include <string>
#include <string_view>

namespace whittle::cli {

/// A file of which nothing is known, before it is read as sessions of the library's own form.
class UnknownFile {
public:
    /// `start`: how the file begins.
    UnknownFile(const logs::Recognition& recognised, std::string_view start);

    /// What `error`, met before any session, is to say: what the file looks like and what is read. The same error where
    /// it is about a session, or the file looks like one.
    [[nodiscard]] Error explained(const std::string& name, const Error& error) const;

private:
    std::string looks_{};  // empty: like sessions
};

/// What the commands that take sessions read.
[[nodiscard]] std::string what_is_read();

}  // namespace whittle::cli
