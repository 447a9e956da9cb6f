#include "whittle/model/model.hpp"

#include <utility>

namespace whittle::inline v0 {

std::string_view to_string(ModelErrorClass error_class) noexcept {
    switch (error_class) {
        case ModelErrorClass::overflow: return "overflow";
        case ModelErrorClass::rate_limit: return "rate_limit";
        case ModelErrorClass::auth: return "auth";
        case ModelErrorClass::server: return "server";
        case ModelErrorClass::bad_request: return "bad_request";
        case ModelErrorClass::refusal: return "refusal";
        case ModelErrorClass::transport: return "transport";
        case ModelErrorClass::cancelled: return "cancelled";
    }
    return "unknown";
}

ModelError::ModelError(ModelErrorClass error_class, std::string message)
    : Error(error_class == ModelErrorClass::cancelled ? Errc::cancelled : Errc::model_failed, std::move(message)),
      class_(error_class) {}

ModelError::ModelError(Overflow overflow, std::string message)
    : Error(Errc::model_failed, std::move(message)), class_(ModelErrorClass::overflow), overflow_(overflow) {}

ModelError::ModelError(std::chrono::milliseconds retry_after, std::string message)
    : Error(Errc::model_failed, std::move(message)), class_(ModelErrorClass::rate_limit), retry_after_(retry_after) {}

ModelError::ModelError(ModelErrorClass error_class, std::optional<std::chrono::milliseconds> retry_after,
                       std::string message)
    : ModelError(error_class, std::move(message)) {
    retry_after_ = retry_after;
}

}  // namespace whittle::inline v0
