// Sources of the format of Gemini CLI: `chatRecordingService.ts`, `chatRecordingTypes.ts`
// (https://github.com/google-gemini/gemini-cli/tree/main/packages/core/src/services) (`loadConversationRecord`,
// `updateMessagesFromHistory`), `core/geminiChat.ts` and `utils/sessionUtils.ts` beside them (2026-11-26).
#include "gemini_form.hpp"
#include "gemini_history.hpp"
#include "readers.hpp"
#include "records.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

std::string folder_of_file(const LogOptions& options) {
    return std::filesystem::path(options.name).parent_path().filename().string();
}

class GeminiLog {
public:
    GeminiLog(const LogOptions& options, LogNotes& notes) : folder_(folder_of_file(options)), notes_(notes) {
        session_.recording.id = stem_of(options);
    }

    void add(const ordered_json& record, std::size_t line) {
        if (const std::string_view to = text_at(record, "$rewindTo"); !to.empty())
            return history_.rewind(std::string(to));
        if (const ordered_json* set = tree_at(record, "$set")) return take_facts(*set, line);
        if (const std::string_view id = text_at(record, "id"); !id.empty())
            return history_.put({std::string(id), record, line});
        if (!text_at(record, "sessionId").empty()) return take_facts(record, line);
        ++notes_.unknown["record"];
    }

    void finish(VisitSession visit) {
        Entries entries;
        history_.write_to(entries, notes_);
        entries.finish(session_, false, notes_);
        for (Call& call : session_.calls) complete_bill_id(call);
        for (Call& call : session_.elsewhere) complete_bill_id(call);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    /// The name of a file is no id of a session: a copy has another one.
    void complete_bill_id(Call& call) const {
        if (!call.bill_id.starts_with(gemini_bill_in_session)) return;
        const std::string rest = call.bill_id.substr(gemini_bill_in_session.size());
        call.bill_id = has_id_ ? "gemini_cli/" + session_.recording.id + "/" + rest : "";
    }

    void take_facts(const ordered_json& facts, std::size_t line) {
        if (const std::string_view id = text_at(facts, "sessionId"); !id.empty()) {
            session_.recording.id = id;
            has_id_ = true;
        }
        if (text_at(facts, "kind") == "subagent" && folder_ != "chats") session_.parent = folder_;
        if (const ordered_json* messages = tree_at(facts, "messages"); messages != nullptr && messages->is_array())
            history_.replace(*messages, line);
    }

    std::string folder_;  // of a sub-agent it is called as its parent
    LogNotes& notes_;
    Session session_{.format = Format::gemini_cli};
    bool has_id_ = false;  // recorded
    GeminiHistory history_{};
};

}  // namespace

void read_gemini_cli(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    GeminiLog log(options, notes);
    Records records(in, options, notes, CutTexts::all);
    while (const auto record = records.next_or_document()) log.add(*record, records.line());
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
