#pragma once

#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Checks the fields of one configuration and names each problem "{name}.{field}". A view.
class FieldCheck {
public:
    FieldCheck(std::string_view name, Problems& problems) : name_(name), problems_(problems) {}

    void at_least(std::int64_t value, std::int64_t lowest, std::string_view field) {
        error(value < lowest, field, std::to_string(value), std::to_string(lowest) + " or more");
    }
    /// Whether it is one.
    bool fraction(double value, std::string_view field) {
        const bool is_fraction = value >= 0.0 && value <= 1.0;
        error(!is_fraction, field, written(value), "0 to 1");
        return is_fraction;
    }
    void error(bool is_wrong, std::string_view field, std::string value, std::string allowed) {
        if (is_wrong) problems_.error(full(field), std::move(value), std::move(allowed));
    }
    /// Warns of each of `names` that can mean no tool (`names_tool`).
    template <typename Names>
    void tool_names(const Names& names, std::string_view field) {
        for (const std::string& name : names) {
            warn(!may_name_tool(name), field, "\"" + std::string(name) + "\"",
                 "the name of a tool, qualified or bare; there are no wildcards, so that this means none");
        }
    }
    void warn(bool is_doubtful, std::string_view field, std::string value, std::string allowed) {
        if (is_doubtful) problems_.warning(full(field), std::move(value), std::move(allowed));
    }

private:
    /// In as few digits as tell it from other numbers.
    [[nodiscard]] static std::string written(double value);
    [[nodiscard]] std::string full(std::string_view field) const {
        return std::string(name_).append(".").append(field);
    }

    std::string_view name_;
    Problems& problems_;
};

}  // namespace whittle::inline v0
