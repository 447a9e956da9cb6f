#include "codex_thread.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <utility>

namespace whittle::inline v0::logs {
namespace {

constexpr std::string_view known_codex = "0.118";

/// The parts of a rollout's first record that say who wrote it. A session that goes on from another one has that one's
/// as well, behind its own.
class CodexLog {
public:
    CodexLog(const LogOptions& options, LogNotes& notes) : notes_(notes) { session_.recording.id = stem_of(options); }

    /// Takes results out of the record.
    void add(ordered_json& record, std::size_t line) {
        const std::string_view type = text_at(record, "type");
        const auto time = to_seconds(text_at(record, "timestamp"));
        const auto payload = record.find("payload");
        if (payload != record.end() && payload->is_object()) return add_payload(type, *payload, time, line);
        if (type.empty() && record.contains("id") && record.contains("timestamp")) return add_meta(record);
        if (type.empty() && record.contains("record_type")) {
            ++notes_.left_out["record_type/" + std::string(text_at(record, "record_type").substr(0, 64))];
            return;
        }
        if (type.empty()) return note_damage(notes_, line, "a record without a type");
        add_item(record, time, line);  // of the time before there was an envelope
    }

    void finish(VisitSession visit) {
        thread_.finish(session_, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    void add_payload(std::string_view type, ordered_json& payload, std::optional<double> time, std::size_t line) {
        if (type == "session_meta") return add_meta(payload);
        if (type == "response_item") return add_item(payload, time, line);
        if (type == "event_msg") return add_event(payload);
        if (type == "compacted") return thread_.compact(payload, notes_);
        if (type == "turn_context") {
            if (const std::string_view model = text_at(payload, "model"); !model.empty()) thread_.model = model;
            return;
        }
        if (type == "session_state" || type == "turn_state") {
            ++notes_.left_out[std::string(type)];
            return;
        }
        ++notes_.unknown[std::string(type.substr(0, 64))];
    }

    void add_meta(const ordered_json& meta) {
        for (const char* key : {"id", "forked_from_id"}) {
            if (const std::string_view id = text_at(meta, key); !id.empty()) thread_.origin = id;
        }
        if (std::exchange(has_meta_, true)) {
            ++notes_.left_out["session_meta of an earlier session"];
            return;
        }
        session_.format = Format::codex;
        if (const std::string_view id = text_at(meta, "id"); !id.empty()) session_.recording.id = id;
        session_.version = text_at(meta, "cli_version");
        session_.folder = text_at(meta, "cwd");
        note_version(notes_, session_.version, known_codex);
        const ordered_json* base = tree_at(meta, "base_instructions");
        session_.recording.system = base == nullptr ? text_at(meta, "instructions") : text_at(*base, "text");
        take_parent(meta);
    }

    void take_parent(const ordered_json& meta) {
        const ordered_json* source = tree_at(meta, "source");
        const ordered_json* agent = source == nullptr ? nullptr : tree_at(*source, "subagent");
        const ordered_json* spawn = agent == nullptr ? nullptr : tree_at(*agent, "thread_spawn");
        if (spawn != nullptr) session_.parent = text_at(*spawn, "parent_thread_id");
    }

    void add_item(ordered_json& item, std::optional<double> time, std::size_t line) {
        if (thread_.add_item(item, time, line, notes_)) return;
        ++notes_.unknown["response_item/" + std::string(text_at(item, "type").substr(0, 64))];
    }

    void add_event(const ordered_json& event) {
        const std::string_view type = text_at(event, "type");
        if (type == "token_count") {
            if (const ordered_json* info = tree_at(event, "info")) thread_.count(*info);
            return;
        }
        if (type == "thread_rolled_back") return thread_.roll_back(count_at(event, "num_turns"));
        ++notes_.left_out["event_msg/" + std::string(type.substr(0, 64))];
    }

    LogNotes& notes_;
    Session session_{.format = Format::codex};
    CodexThread thread_{};
    bool has_meta_ = false;
};

}  // namespace

void read_codex(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    CodexLog log(options, notes);
    while (auto record = records.next()) log.add(*record, records.line());
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
