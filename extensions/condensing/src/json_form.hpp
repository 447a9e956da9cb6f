#pragma once

#include "json_nodes.hpp"
#include "whittle/base/language.hpp"
#include "whittle/condensing/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What was done to a JSON text.
struct JsonFormFacts {
    std::size_t tables = 0;
    std::size_t rows_left_out = 0;
    std::size_t strings_cut = 0;
};

/// A JSON text without white space, like objects as rows under their names: {"@columns":[..],"@rows":[[..],..]}. That
/// is JSON again. Where something is left out, "…(12 left out)" stands outside of all strings, where JSON has nothing.
class JsonForm {
public:
    /// `cuts`: whether long arrays and strings lose something.
    JsonForm(const JsonNodes& nodes, const CondensingConfig& config, Language language, bool cuts);

    /// `are_lines`: the elements of the whole stand on lines of their own, without brackets.
    [[nodiscard]] std::string make(bool are_lines);
    [[nodiscard]] const JsonFormFacts& facts() const noexcept { return facts_; }

private:
    /// What has the names of a table, and whether objects in it stand without theirs too.
    struct Columns {
        std::uint32_t object = JsonNode::none;
        bool is_deep = false;
    };
    /// A value that is being written.
    struct Frame {
        enum class Kind { object, array, lines, rows, positions, header };
        Kind kind = Kind::object;
        std::uint32_t child = JsonNode::none;  // that comes next
        std::size_t index = 0;                 // of it
        bool is_first = true;
        Columns columns{};          // of rows, what stands in them, and headers
        std::vector<bool> keeps{};  // array and rows: which elements stay; empty: all
        std::size_t left_out = 0;   // since the last one that stayed
    };

    void write(std::uint32_t node);
    void step();
    void close();
    void begin_item(Frame& frame);
    void close_gap(Frame& frame);
    void open_array(std::uint32_t node, bool are_lines);
    [[nodiscard]] Columns columns_of(std::uint32_t array) const;
    [[nodiscard]] std::pair<std::size_t, std::size_t> header_size(Columns columns) const;
    void open_rows(std::uint32_t node, Columns columns);
    void open_positions(std::uint32_t node, bool is_deep);
    void write_header(std::uint32_t node, bool is_deep);
    void write_string(std::string_view literal);
    [[nodiscard]] std::vector<bool> pick_elements(std::uint32_t array) const;
    [[nodiscard]] bool has_row(Columns columns, std::uint32_t object) const;
    [[nodiscard]] std::string left_out_mark(std::size_t number) const;

    const JsonNodes& nodes_;
    const CondensingConfig& config_;
    Language language_;
    bool cuts_;
    bool makes_tables_;
    std::string out_{};
    std::vector<Frame> frames_{};
    JsonFormFacts facts_{};
};

}  // namespace whittle::inline v0::detail
