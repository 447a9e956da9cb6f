#include "recorder.hpp"

#include "files.hpp"

#include <utility>

namespace agent {

Recorder::Recorder(std::filesystem::path file, std::string id, std::string system, std::vector<whittle::ToolSpec> tools,
                   std::shared_ptr<const whittle::TokenCounter> counter)
    : file_(std::move(file)), counter_(std::move(counter)), start_(clock_->now()) {
    session_.id = std::move(id);
    session_.system = std::move(system);
    session_.tools = std::move(tools);
    tokens_ = whittle::count_overhead(session_.system, session_.tools, *counter_);
}

void Recorder::add(const whittle::openai::Message& message) {
    session_.messages.push_back(message);
    session_.seconds.emplace_back(static_cast<double>(clock_->now() - start_) / 1'000.0);
    tokens_ += whittle::count_message(message, *counter_);
}

void Recorder::catch_up(std::span<const whittle::openai::Message> messages) {
    for (std::size_t i = session_.messages.size(); i < messages.size(); ++i) add(messages[i]);
}

void Recorder::save() const {
    if (!file_.empty()) write_whole(file_, whittle::to_json_line(session_) + "\n");
}

}  // namespace agent
