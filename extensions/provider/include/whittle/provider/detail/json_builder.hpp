#pragma once

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Builds a tree from parse events: limits its depth, and notices what nlohmann's own builder passes over in silence.
class JsonBuilder final : public nlohmann::json_sax<ordered_json> {
public:
    JsonBuilder(std::size_t max_depth, ParseNotes* notes) : max_depth_(max_depth), notes_(notes) {
        constexpr std::size_t usual_depth = 6;
        frames_.reserve(usual_depth);
    }

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
    bool string(string_t& value) override { return add(value); }  // the parser goes on with its own
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool key(string_t& key) override {
        innermost().key = key;
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
        too_deep_ = depth_ >= max_depth_;
        if (too_deep_) return false;
        if (depth_++ == frames_.size()) frames_.emplace_back();
        innermost().is_object = is_object;
        return true;
    }

    bool close() {
        ordered_json value = to_value(innermost());
        --depth_;
        return add(std::move(value));
    }

    Frame& innermost() { return frames_[depth_ - 1]; }

    /// Leaves an empty frame.
    static ordered_json to_value(Frame& frame) {
        if (!frame.is_object) return ordered_json(std::exchange(frame.elements, {}));
        ordered_json::object_t object;
        object.reserve(frame.members.size());
        for (auto& [key, value] : frame.members) object.emplace_back(std::move(key), std::move(value));
        frame.members.clear();
        if (!frame.index.empty()) frame.index = {};  // to clear it would take the time of its largest size
        return ordered_json(std::move(object));
    }

    bool add(ordered_json value) {
        if (depth_ == 0) {
            root_ = std::move(value);
        } else if (Frame& frame = innermost(); !frame.is_object) {
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
        for (const Frame& frame : std::span(frames_).first(depth_)) {
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
        if (what.starts_with("parse error")) what.remove_prefix((std::min)(what.find(": ") + 2, what.size()));
        constexpr std::size_t max_bytes = 240;
        return std::string(what.size() <= max_bytes ? what : what.substr(0, max_bytes));
    }

    std::size_t max_depth_;
    ParseNotes* notes_;
    ordered_json root_ = nullptr;
    std::vector<Frame> frames_{};  // those behind depth_ are empty, with the memory that they had
    std::size_t depth_ = 0;
    bool too_deep_ = false;
    std::size_t error_offset_ = 0;
    std::string error_text_{};
};

}  // namespace whittle::inline v0::detail
