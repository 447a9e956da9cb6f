#include "json_form.hpp"

#include "row_picker.hpp"
#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view columns_key = R"("@columns")";
constexpr std::string_view rows_key = R"("@rows")";

/// Of more than half of the elements, if all are objects with members.
struct LikeObjects {
    std::uint32_t first = JsonNode::none;  // one of them
    std::size_t number = 0;
};

template <typename Key>
LikeObjects most_alike(const JsonNodes& nodes, std::uint32_t array, Key key) {
    LikeObjects most;
    std::size_t votes = 0;
    for (std::uint32_t i = nodes[array].first_child; i != JsonNode::none; i = nodes[i].next) {
        if (!nodes.has_fields(i)) return {};
        if (votes == 0) most.first = i;
        votes += key(i) == key(most.first) ? 1 : 0;
        votes -= key(i) == key(most.first) ? 0 : 1;
    }
    for (std::uint32_t i = nodes[array].first_child; i != JsonNode::none; i = nodes[i].next) {
        if (key(i) != key(most.first)) continue;
        if (most.number++ == 0) most.first = i;
    }
    return most;
}

/// A member of an object that says that something went wrong.
bool member_mentions_error(const JsonNodes& nodes, std::uint32_t member) {
    constexpr std::size_t longest_status = 40;
    const std::string_view value = nodes.text(member);
    const JsonNode::Kind kind = nodes[member].kind;
    if (kind == JsonNode::Kind::string && value.size() <= longest_status && tells_of_error(value)) return true;
    if (nodes[member].key_end == 0) return false;
    const std::string key = ascii_lower(nodes.key(member).substr(0, longest_status));
    const bool names_error = key.find("error") != std::string::npos || key.find("exception") != std::string::npos;
    if (!names_error) return false;
    const bool is_container = kind == JsonNode::Kind::object || kind == JsonNode::Kind::array;
    if (is_container) return nodes[member].children > 0;
    return value != "null" && value != "false" && value != "0" && value != R"("")";
}

/// Where a string may be cut without cutting a character or an escape sequence: at most `at`, at least 1.
std::size_t cut_before(std::string_view literal, std::size_t at) noexcept {
    std::size_t end = 1;
    while (end < at) {
        std::size_t next = end + 1;
        if (literal[end] == '\\') next = end + (literal[end + 1] == 'u' ? 6 : 2);
        while (next < literal.size() && (static_cast<unsigned char>(literal[next]) & 0xc0U) == 0x80U) ++next;
        if (next > at) break;
        end = next;
    }
    return end;
}

}  // namespace

JsonForm::JsonForm(const JsonNodes& nodes, const CondensingConfig& config, Language language, bool cuts)
    : nodes_(nodes),
      config_(config),
      language_(language),
      cuts_(cuts),
      makes_tables_(!nodes.has_key(columns_key) && !nodes.has_key(rows_key)) {}

std::string JsonForm::make(bool are_lines) {
    constexpr std::uint32_t root = 0;
    if (are_lines || nodes_[root].kind == JsonNode::Kind::array) {
        open_array(root, are_lines);
    } else {
        write(root);
    }
    while (!frames_.empty()) step();
    return std::move(out_);
}

/// Writes what has nothing in it, opens what has.
void JsonForm::write(std::uint32_t node) {
    const JsonNode& value = nodes_[node];
    if (value.kind == JsonNode::Kind::string) return write_string(nodes_.text(node));
    if (value.kind == JsonNode::Kind::other) {
        out_ += nodes_.text(node);
        return;
    }
    if (value.kind == JsonNode::Kind::array) return open_array(node, false);
    out_ += '{';
    frames_.push_back({.kind = Frame::Kind::object, .child = value.first_child});
}

/// Writes the next child of the innermost value. `frame` is void once a value was opened.
void JsonForm::step() {
    Frame& frame = frames_.back();
    if (frame.child == JsonNode::none) return close();
    const std::uint32_t node = std::exchange(frame.child, nodes_[frame.child].next);
    const std::size_t index = frame.index++;
    if (!frame.keeps.empty() && !frame.keeps[index]) {
        ++frame.left_out;
        ++facts_.rows_left_out;
        return;
    }
    close_gap(frame);
    begin_item(frame);
    const Columns columns = frame.columns;
    switch (frame.kind) {
        case Frame::Kind::object:
            out_ += nodes_.key(node);
            out_ += ':';
            return write(node);
        case Frame::Kind::header: return write_header(node, columns.is_deep);
        case Frame::Kind::rows:
            if (has_row(columns, node)) return open_positions(node, columns.is_deep);
            return write(node);
        case Frame::Kind::positions:
            if (columns.is_deep && nodes_.has_fields(node)) return open_positions(node, true);
            return write(node);
        case Frame::Kind::array:
        case Frame::Kind::lines: return write(node);
    }
}

void JsonForm::close() {
    close_gap(frames_.back());
    const Frame::Kind kind = frames_.back().kind;
    const bool is_deep = frames_.back().columns.is_deep;
    frames_.pop_back();
    if (kind == Frame::Kind::lines) return;
    if (kind == Frame::Kind::object) {
        out_ += '}';
    } else if (kind == Frame::Kind::rows) {
        out_ += "]}";
    } else {
        out_ += ']';
    }
    const bool is_inner_header = kind == Frame::Kind::header && !frames_.empty() && frames_.back().kind == kind;
    if (is_inner_header && is_deep) out_ += '}';
}

/// Rows, and the elements of the whole, stand on lines of their own.
void JsonForm::begin_item(Frame& frame) {
    const bool is_line = frame.kind == Frame::Kind::rows || (frames_.size() == 1 && frame.kind != Frame::Kind::header);
    if (!frame.is_first && frame.kind != Frame::Kind::lines) out_ += ',';
    if (is_line && !(frame.is_first && frame.kind == Frame::Kind::lines)) out_ += '\n';
    frame.is_first = false;
}

void JsonForm::close_gap(Frame& frame) {
    if (frame.left_out == 0) return;
    begin_item(frame);
    out_ += left_out_mark(frame.left_out);
    frame.left_out = 0;
}

std::string JsonForm::left_out_mark(std::size_t number) const {
    if (language_ == Language::chinese) return "…(省略 " + std::to_string(number) + " 项)";
    return "…(" + std::to_string(number) + " left out)";
}

void JsonForm::open_array(std::uint32_t node, bool are_lines) {
    if (const Columns columns = columns_of(node); columns.object != JsonNode::none) return open_rows(node, columns);
    if (!are_lines) out_ += '[';
    frames_.push_back({.kind = are_lines ? Frame::Kind::lines : Frame::Kind::array,
                       .child = nodes_[node].first_child,
                       .keeps = pick_elements(node)});
}

/// Objects that most elements of an array are like: by all their names, or by those of their own members, where these
/// are few enough to be counted off. Without them `columns` is none.
JsonForm::Columns JsonForm::columns_of(std::uint32_t array) const {
    constexpr std::size_t fewest_objects = 2;
    constexpr std::size_t cost = 32;  // of the names of a table
    const std::size_t number = nodes_[array].children;
    if (!makes_tables_ || number < fewest_objects) return {};
    for (const bool is_deep : {true, false}) {
        const LikeObjects rows =
            most_alike(nodes_, array, [&](std::uint32_t i) { return is_deep ? nodes_[i].deep_keys : nodes_[i].keys; });
        if (rows.first == JsonNode::none || 10 * rows.number < 6 * number) continue;
        const Columns columns{rows.first, is_deep};
        const auto [places, names] = header_size(columns);
        constexpr std::size_t max_columns = 32;  // nobody counts off more values
        const bool is_readable = places <= max_columns;
        if (is_readable && (rows.number - 1) * names > cost) return columns;
    }
    return {};
}

/// Values in a row, and bytes of their names.
std::pair<std::size_t, std::size_t> JsonForm::header_size(Columns columns) const {
    std::size_t places = 0;
    std::size_t names = 0;
    std::vector<std::uint32_t> open{columns.object};
    while (!open.empty()) {
        const std::uint32_t object = open.back();
        open.pop_back();
        for (std::uint32_t i = nodes_[object].first_child; i != JsonNode::none; i = nodes_[i].next) {
            names += nodes_.key(i).size() + 1;
            const bool is_inner = columns.is_deep && nodes_.has_fields(i);
            if (is_inner) open.push_back(i);
            places += is_inner ? 0 : 1;
        }
    }
    return {places, names};
}

/// The header is written to its end at once.
void JsonForm::open_rows(std::uint32_t node, Columns columns) {
    ++facts_.tables;
    out_.append("{").append(columns_key).append(":[");
    Frame rows{
        .kind = Frame::Kind::rows, .child = nodes_[node].first_child, .columns = columns, .keeps = pick_elements(node)};
    const std::size_t depth = frames_.size();
    frames_.push_back({.kind = Frame::Kind::header, .child = nodes_[columns.object].first_child, .columns = columns});
    while (frames_.size() > depth) step();
    out_.append(",").append(rows_key).append(":[");
    frames_.push_back(std::move(rows));
}

void JsonForm::open_positions(std::uint32_t node, bool is_deep) {
    out_ += '[';
    frames_.push_back(
        {.kind = Frame::Kind::positions, .child = nodes_[node].first_child, .columns = {.is_deep = is_deep}});
}

/// A name, or {name: [names]} of an object whose members stand by their position too.
void JsonForm::write_header(std::uint32_t node, bool is_deep) {
    const bool is_inner = is_deep && nodes_.has_fields(node);
    if (is_inner) out_ += '{';
    out_ += nodes_.key(node);
    if (!is_inner) return;
    out_ += ":[";
    frames_.push_back({.kind = Frame::Kind::header, .child = nodes_[node].first_child, .columns = {.is_deep = true}});
}

/// Whether the object has the names of the columns: hashes may be equal by chance.
bool JsonForm::has_row(Columns columns, std::uint32_t object) const {
    const bool is_deep = columns.is_deep;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{columns.object, object}};
    const auto is_alike = [&](std::uint32_t a, std::uint32_t b) {
        if (nodes_.key(a) != nodes_.key(b)) return false;
        if (is_deep && nodes_.has_fields(a)) open.emplace_back(a, b);
        return !is_deep || nodes_.has_fields(a) == nodes_.has_fields(b);
    };
    if (!nodes_.has_fields(object)) return false;
    while (!open.empty()) {
        const auto [a, b] = open.back();
        open.pop_back();
        if (nodes_[a].children != nodes_[b].children) return false;
        std::uint32_t j = nodes_[b].first_child;
        for (std::uint32_t i = nodes_[a].first_child; i != JsonNode::none; i = nodes_[i].next, j = nodes_[j].next) {
            if (!is_alike(i, j)) return false;
        }
    }
    return true;
}

/// Both ends of a long one stay; what is between is said.
void JsonForm::write_string(std::string_view literal) {
    const auto limit = static_cast<std::size_t>(config_.max_string_bytes);
    constexpr std::size_t least_gain = 60;
    if (!cuts_ || literal.size() <= limit + least_gain) {
        out_ += literal;
        return;
    }
    const std::size_t head = cut_before(literal, 1 + limit * 3 / 4);
    const std::size_t tail_from = cut_before(literal, literal.size() - 1 - limit / 4);
    ++facts_.strings_cut;
    out_.append(literal.substr(0, head)).append("\"");
    const std::string bytes = std::to_string(tail_from - head);
    out_.append(language_ == Language::chinese ? "…(省略 " + bytes + " 字节)…" : "…(" + bytes + " bytes left out)…");
    out_.append("\"").append(literal.substr(tail_from));
}

std::vector<bool> JsonForm::pick_elements(std::uint32_t array) const {
    const std::size_t number = nodes_[array].children;
    if (!cuts_ || number <= static_cast<std::size_t>(config_.cut_above_rows)) return {};
    RowPicker picker(number, config_);
    std::size_t row = 0;
    for (std::uint32_t i = nodes_[array].first_child; i != JsonNode::none; i = nodes_[i].next, ++row) {
        if (nodes_[i].has_new_key) picker.keep(row);
        const bool is_container = nodes_[i].kind == JsonNode::Kind::object || nodes_[i].kind == JsonNode::Kind::array;
        if (!is_container) {
            picker.add_cell(row, 0, nodes_.text(i));
            continue;
        }
        bool has_error = false;
        std::size_t column = 0;
        for (std::uint32_t j = nodes_[i].first_child; j != JsonNode::none; j = nodes_[j].next, ++column) {
            const bool is_plain = nodes_[j].first_child == JsonNode::none;
            if (is_plain) picker.add_cell(row, column, nodes_.text(j));
            has_error = has_error || member_mentions_error(nodes_, j);
        }
        if (has_error) picker.add_error(row);
    }
    std::vector<bool> keeps = picker.pick();
    // A mark in place of one element would say less than the element.
    for (std::size_t i = 1; i + 1 < keeps.size(); ++i) keeps[i] = keeps[i] || (keeps[i - 1] && keeps[i + 1]);
    return keeps;
}

}  // namespace whittle::inline v0::detail
