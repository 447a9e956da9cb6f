#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/provider/detail/wire_types.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace whittle::inline v0::openai {

namespace detail {

class WireCheck {
public:
    void message(const ordered_json& m, std::size_t index) {
        index_ = index;
        types_.place(index, 0);
        types_.strings(m, "message", {"name", "refusal"}, Types::Needed::no);
        if (find_string(m, "role") == "tool") types_.strings(m, "message", {"tool_call_id"});
        content(find_member(m, "content"));
        calls(find_member(m, "tool_calls"));
        if (const ordered_json* call = find_member(m, "function_call"); call != nullptr && !call->is_null())
            function(m, "message", "function_call");
    }

    [[nodiscard]] std::vector<WireViolation> finish() { return std::move(found_); }

private:
    using Types = whittle::detail::WireTypes;

    void content(const ordered_json* content) {
        if (content == nullptr || content->is_null() || content->is_string()) return;
        if (!content->is_array()) return types_.add("content", "a string or an array of parts", content);
        for (std::size_t i = 0; i < content->size(); ++i) {
            types_.place(index_, i);
            part((*content)[i], Types::at("content", i));
        }
    }

    void part(const ordered_json& part, const std::string& where) {
        if (!types_.is_block(part, where)) return;
        const auto type = find_string(part, "type").value_or("");
        if (type == "text") types_.strings(part, where, {"text"});
        if (type == "refusal") types_.strings(part, where, {"refusal"});
        if (type == "image_url") {
            if (const ordered_json* url = types_.object(part, where, "image_url"))
                types_.strings(*url, where + ".image_url", {"url"});
        }
        if (type == "input_audio") {
            if (const ordered_json* audio = types_.object(part, where, "input_audio"))
                types_.strings(*audio, where + ".input_audio", {"data", "format"});
        }
    }

    void calls(const ordered_json* calls) {
        if (calls == nullptr || calls->is_null()) return;
        types_.place(index_, 0);
        if (!calls->is_array()) return types_.add("tool_calls", "an array of calls", calls);
        for (std::size_t i = 0; i < calls->size(); ++i) {
            types_.place(index_, i);
            call((*calls)[i], Types::at("tool_calls", i));
        }
    }

    void call(const ordered_json& call, const std::string& where) {
        if (!call.is_object()) return types_.add(where, "an object", &call);
        types_.strings(call, where, {"id"});
        if (find_string(call, "type") != "custom") return function(call, where, "function");
        if (const ordered_json* custom = types_.object(call, where, "custom"))
            types_.strings(*custom, where + ".custom", {"name", "input"});
    }

    void function(const ordered_json& parent, const std::string& where, const char* key) {
        if (const ordered_json* function = types_.object(parent, where, key))
            types_.strings(*function, where + "." + key, {"name", "arguments"});
    }

    std::vector<WireViolation> found_{};
    Types types_{found_};
    std::size_t index_ = 0;
};

}  // namespace detail

/// What in messages only their JSON shows, and the API refuses: contents, parts and calls of another JSON type than
/// the format gives them (G13), which the neutral view has as opaque parts or not at all. Complements `validate` with
/// the OpenAI profiles. In list order. Linear in the size of the messages.
/// Calls `check_cancelled` for each message.
[[nodiscard]] inline std::vector<WireViolation> check_wire(std::span<const Message> messages,
                                                           CancelCheck check_cancelled = never_cancelled) {
    detail::WireCheck check;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        check_cancelled();
        check.message(messages[i].json(), i);
    }
    return check.finish();
}

}  // namespace whittle::inline v0::openai
