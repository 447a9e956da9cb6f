#pragma once

#include "whittle/provider/http_transport.hpp"

#include <memory>
#include <string>

namespace whittle::inline v0 {

/// Settings of the libcurl transport. The certificate of a server is always verified; there is no switch against it.
struct CurlOptions {
    std::string proxy{};      ///< "http://host:port", "socks5h://..."; empty: none, whatever the environment says
    std::string no_proxy{};   ///< hosts that `proxy` is not used for, with commas; "*": all
    std::string ca_bundle{};  ///< path of a PEM file, trusted in place of the system's certificates; empty: those
    bool http2 = true;        ///< over TLS, where the server offers it; else HTTP/1.1
    std::string user_agent = "whittle";  ///< the header "User-Agent"; empty: none of ours
    int max_idle_connections = 8;        ///< kept open for later requests

    friend bool operator==(const CurlOptions&, const CurlOptions&) = default;
};

/// Throws `Error(invalid_argument)` for a `ca_bundle` that cannot be read, a `proxy` that is no URL of an http, https
/// or socks proxy (without its text: it may hold a password) or a text with a line break in it, and
/// `Error(not_offered)` if libcurl cannot start or lacks TLS. Reads no environment variable, no .netrc, keeps no
/// cookies. Connections are reused.
[[nodiscard]] std::shared_ptr<HttpTransport> make_curl_transport(CurlOptions options = {});

}  // namespace whittle::inline v0
