#pragma once

#include "whittle/adapter/detail/json_text.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a JSON text may ask of us before it is refused.
struct JsonLimits {
    std::size_t max_bytes = 256U << 20U;  ///< of the text
    std::size_t max_depth = 200;          ///< levels of arrays and objects
};

/// What parsing changed silently: duplicate keys, integers beyond 64 bits. One sentence each, with the place; at most
/// 100.
struct ParseNotes {
    std::vector<std::string> notes{};
};

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

using nlohmann::ordered_json;

/// Builds a tree from parse events: limits its depth, and notices what nlohmann's own builder passes over in silence.
class JsonBuilder final : public nlohmann::json_sax<ordered_json> {
public:
    JsonBuilder(std::size_t max_depth, ParseNotes* notes) : max_depth_(max_depth), notes_(notes) {}

    [[nodiscard]] ordered_json&& take_root() { return std::move(root_); }
    [[nodiscard]] bool too_deep() const noexcept { return too_deep_; }
    [[nodiscard]] std::size_t error_offset() const noexcept { return error_offset_; }
    [[nodiscard]] const std::string& error_text() const noexcept { return error_text_; }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t& literal) override {
        if (literal.find_first_of(".eE") == string_t::npos) {
            note("integer " + clip_for_error(literal), "is beyond 64 bits and was rounded to a real number");
        }
        return add(value);
    }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool key(string_t& key) override {
        frames_.back().key = std::move(key);
        return true;
    }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t bytes_read, const std::string&, const nlohmann::detail::exception& e) override {
        error_offset_ = bytes_read > 0 ? bytes_read - 1 : 0;
        error_text_ = reason_of(e.what());
        return false;
    }

private:
    struct Frame {
        bool is_object = false;
        std::string key{};  // of the member that comes next
        std::vector<std::pair<std::string, ordered_json>> members{};
        std::unordered_map<std::string, std::size_t> index{};  // by key, once there are many members
        ordered_json::array_t elements{};
    };

    bool open(bool is_object) {
        too_deep_ = frames_.size() >= max_depth_;
        if (too_deep_) return false;
        frames_.emplace_back().is_object = is_object;
        return true;
    }

    bool close() {
        ordered_json value = to_value(frames_.back());
        frames_.pop_back();
        return add(std::move(value));
    }

    static ordered_json to_value(Frame& frame) {
        if (!frame.is_object) return ordered_json(std::move(frame.elements));
        ordered_json::object_t object;
        object.reserve(frame.members.size());
        for (auto& [key, value] : frame.members) object.emplace_back(std::move(key), std::move(value));
        return ordered_json(std::move(object));
    }

    bool add(ordered_json value) {
        if (frames_.empty()) {
            root_ = std::move(value);
        } else if (Frame& frame = frames_.back(); !frame.is_object) {
            frame.elements.push_back(std::move(value));
        } else {
            add_member(frame, std::move(value));
        }
        return true;
    }

    void add_member(Frame& frame, ordered_json&& value) {
        if (ordered_json* earlier = find_member(frame)) {
            note("duplicate key", "the last value is kept");
            *earlier = std::move(value);
            return;
        }
        if (!frame.index.empty()) frame.index.emplace(frame.key, frame.members.size());
        frame.members.emplace_back(frame.key, std::move(value));
    }

    static ordered_json* find_member(Frame& frame) {
        constexpr std::size_t many = 16;
        if (frame.members.size() < many) {
            for (auto& [key, value] : frame.members) {
                if (key == frame.key) return &value;
            }
            return nullptr;
        }
        if (frame.index.empty()) {
            for (std::size_t i = 0; i < frame.members.size(); ++i) frame.index.emplace(frame.members[i].first, i);
        }
        const auto at = frame.index.find(frame.key);
        return at == frame.index.end() ? nullptr : &frame.members[at->second].second;
    }

    void note(std::string_view what, std::string_view consequence) {
        if (notes_ == nullptr || notes_->notes.size() >= 100) return;
        notes_->notes.push_back(path() + ": " + std::string(what) + ": " + std::string(consequence));
    }

    /// The place of the value that comes next, such as `messages[3].tool_calls[0].id`.
    [[nodiscard]] std::string path() const {
        std::string path;
        for (const Frame& frame : frames_) {
            if (!frame.is_object) {
                path += "[" + std::to_string(frame.elements.size()) + "]";
            } else {
                path += (path.empty() ? "" : ".") + clip_for_error(frame.key);
            }
        }
        return path.empty() ? "value" : path;
    }

    /// Without nlohmann's error number and line: those would be the line in the text, not in the file.
    static std::string reason_of(std::string_view what) {
        if (const auto at = what.find("] "); at != std::string_view::npos) what.remove_prefix(at + 2);
        if (what.starts_with("parse error")) what.remove_prefix(std::min(what.find(": ") + 2, what.size()));
        constexpr std::size_t max_bytes = 240;
        return std::string(what.size() <= max_bytes ? what : what.substr(0, max_bytes));
    }

    std::size_t max_depth_;
    ParseNotes* notes_;
    ordered_json root_ = nullptr;
    std::vector<Frame> frames_{};
    bool too_deep_ = false;
    std::size_t error_offset_ = 0;
    std::string error_text_{};
};

/// Walks over a text and polls every 64 KiB of it.
class PolledText {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    PolledText(const char* at, const Poll& poll) : at_(at), poll_(&poll) {}

    reference operator*() const { return *at_; }
    PolledText& operator++() {
        ++at_;
        if (--until_poll_ == 0) poll_now();
        return *this;
    }
    PolledText operator++(int) {
        PolledText before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const PolledText& a, const PolledText& b) { return a.at_ == b.at_; }

private:
    static constexpr std::size_t bytes_between = 1U << 16U;

    void poll_now() {
        until_poll_ = bytes_between;
        (*poll_)();
    }

    const char* at_;
    const Poll* poll_;
    std::size_t until_poll_ = bytes_between;
};

/// RFC 8259 and nothing more; lone surrogates and bytes that are not UTF-8 are refused. Never recurses. Throws
/// Error(parse_failed): "{attempted}: byte {offset from 0}: {reason}". Calls `poll` every 64 KiB of `text`.
[[nodiscard]] inline ordered_json parse_json(std::string_view attempted, std::string_view text,
                                             const JsonLimits& limits = {}, ParseNotes* notes = nullptr,
                                             Poll poll = no_poll) {
    const auto fail = [&](const std::string& reason) {
        throw Error(Errc::parse_failed, std::string(attempted) + ": " + reason);
    };
    if (text.size() > limits.max_bytes) {
        fail(std::to_string(text.size()) + " bytes of JSON are more than the limit of " +
             std::to_string(limits.max_bytes));
    }
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {  // the parser would take it for the end
        fail("byte " + std::to_string(nul) + ": a NUL, which JSON text cannot hold");
    }
    JsonBuilder builder(limits.max_depth, notes);
    const PolledText begin(text.data(), poll);
    const PolledText end(text.data() + text.size(), poll);
    if (ordered_json::sax_parse(begin, end, &builder)) return builder.take_root();
    if (builder.too_deep()) {
        fail("byte " + std::to_string(offset_of_depth(text, limits.max_depth)) + ": nested deeper than " +
             std::to_string(limits.max_depth) + " levels");
    }
    fail("byte " + std::to_string(builder.error_offset()) + ": " + to_valid_utf8(builder.error_text()));
    return nullptr;
}

/// "null", "a number", `"abc"`: what an error text says was found.
[[nodiscard]] inline std::string found_text(const ordered_json& value) {
    switch (value.type()) {
        case ordered_json::value_t::null: return "null";
        case ordered_json::value_t::object: return "an object";
        case ordered_json::value_t::array: return "an array";
        case ordered_json::value_t::string: return "\"" + clip_for_error(value.get_ref<const std::string&>()) + "\"";
        case ordered_json::value_t::boolean: return value.get<bool>() ? "true" : "false";
        case ordered_json::value_t::binary:
        case ordered_json::value_t::discarded: return "a value that JSON does not have";
        default: return "the number " + value.dump();
    }
}

/// The member `key` of the object `value`, or null.
[[nodiscard]] inline const ordered_json* find_member(const ordered_json& value, const char* key) {
    if (!value.is_object()) return nullptr;
    const auto at = value.find(key);
    return at == value.end() ? nullptr : &*at;
}

/// The text of the string member `key`; nullopt if there is none or it is something else. A view into `value`.
[[nodiscard]] inline std::optional<std::string_view> find_string(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    if (member == nullptr || !member->is_string()) return std::nullopt;
    return std::string_view(member->get_ref<const std::string&>());
}

/// Why `value` cannot be written as JSON text and read back: too deep, binary, or a number that is not finite. Empty if
/// it can.
[[nodiscard]] inline std::string reason_not_to_write(const ordered_json& value, std::size_t max_depth) {
    std::vector<std::pair<const ordered_json*, std::size_t>> open{{&value, 1}};
    while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        if (node->is_binary() || node->is_discarded()) return "holds a value that JSON does not have";
        if (node->is_number_float() && !std::isfinite(node->get<double>())) return "holds a number that is not finite";
        if (!node->is_structured()) continue;
        if (depth > max_depth) return "is nested deeper than " + std::to_string(max_depth) + " levels";
        for (const ordered_json& child : *node) open.emplace_back(&child, depth + 1);
    }
    return {};
}

/// `value` with every key and string replaced by `map` of it. Recursive: only for trees whose depth was checked.
template <typename Map>
[[nodiscard]] ordered_json map_strings(const ordered_json& value, const Map& map) {
    if (value.is_string()) return map(value.get_ref<const std::string&>());
    ordered_json out = value.is_object() ? ordered_json::object() : ordered_json::array();
    if (value.is_array()) {
        for (const ordered_json& child : value) out.push_back(map_strings(child, map));
        return out;
    }
    if (!value.is_object()) return value;
    auto& members = out.get_ref<ordered_json::object_t&>();
    members.reserve(value.size());
    for (const auto& [key, child] : value.items()) members.emplace_back(map(key), map_strings(child, map));
    return out;
}

}  // namespace whittle::inline v0::detail
