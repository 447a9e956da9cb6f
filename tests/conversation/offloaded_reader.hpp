#pragma once

#include "support/catch.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/conversation/read_offloaded.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::testing {

using nlohmann::json;

struct Answer {
    std::string text{};
    bool is_error = false;
    std::vector<std::string> read_back{};
};

/// A conversation "c" with one object, and the tool.
struct Reader {
    explicit Reader(const std::string& content, const ReadOffloadedOptions& options = {},
                    const std::shared_ptr<Storage>& store = memory_storage())
        : storage(store), tool(read_offloaded_tool(nullptr, options)) {
        storage->put_if_absent("c/trunc/a", content);
        objects->add("c/trunc/a", storage);
    }

    Answer operator()(const std::string& arguments) {
        ToolContext context;
        context.tool = "read_offloaded";
        context.arguments = arguments;
        context.conversation_id = "c";
        context.storage = storage;
        context.objects = objects;
        context.stop = stop.get_token();
        context.language = language;
        context.events = &events;
        CollectingSink sink;
        const ToolOutcome outcome = tool.invoke(context, sink);
        Answer answer{.is_error = outcome.is_error, .read_back = outcome.read_back};
        for (const Part& part : sink.take()) answer.text += part.text;
        return answer;
    }
    Answer operator()(json arguments) {
        if (!arguments.contains("reference")) arguments["reference"] = "c/trunc/a";
        return (*this)(arguments.dump());
    }

    std::shared_ptr<Storage> storage;
    Tool tool;
    std::shared_ptr<StoredObjects> objects = std::make_shared<StoredObjects>();
    StopSource stop{};
    Language language = Language::english;
    std::vector<std::string> heard{};
    EventSink events = [this](const Event& event) {
        heard.push_back(std::string(event.source) + " " + std::string(event.kind) + " " +
                        std::string(event.conversation) + ": " + std::string(event.text));
    };
};

/// `size` bytes of repeated lines "0123456789abcde\n", which are never all in memory; it notes the largest range.
class VirtualStorage final : public Storage {
public:
    explicit VirtualStorage(std::int64_t size) : size_(size) {}
    void put_if_absent(std::string_view, std::string_view) override {}
    std::optional<std::string> get(std::string_view, std::int64_t offset, std::int64_t max_bytes) override {
        const std::int64_t bytes = std::clamp<std::int64_t>(size_ - offset, 0, max_bytes);
        largest = std::max(largest, bytes);
        std::string text(static_cast<std::size_t>(bytes), '\0');
        for (std::size_t i = 0; i < text.size(); ++i) text[i] = "0123456789abcde\n"[(offset + std::int64_t(i)) % 16];
        return text;
    }
    std::optional<ObjectInfo> stat(std::string_view key) override { return ObjectInfo{std::string(key), size_}; }

    std::int64_t largest = 0;

private:
    std::int64_t size_;
};

/// The number behind the last "go on with {name} " of a text; nullopt if there is none.
inline std::optional<std::int64_t> go_on(const std::string& text, const std::string& name) {
    const std::string label = "go on with " + name + " ";
    const std::size_t at = text.rfind(label);
    if (at == std::string::npos) return std::nullopt;
    return std::stoll(text.substr(at + label.size()));
}

/// The bytes of a page, by what its note says of them.
inline std::string page_of(const std::string& content, const std::string& text) {
    const std::size_t at = text.rfind("bytes ");
    REQUIRE(at != std::string::npos);
    std::size_t length = 0;
    const std::size_t begin = std::stoull(text.substr(at + 6), &length);
    const std::size_t end = std::stoull(text.substr(at + 6 + length + 4));
    const std::string page = content.substr(begin, end - begin);
    CHECK(text.starts_with(page));
    return page;
}

}  // namespace whittle::testing
