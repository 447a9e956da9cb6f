// A program that only asks for whittle::http. Its headers need no header of libcurl.
#include <whittle/http/curl_transport.hpp>
#include <whittle/provider/classify_error.hpp>

#ifdef CURLINC_CURL_H
#    error "a public header includes curl.h"
#endif

int main() {
    return whittle::make_curl_transport() && whittle::classify_error(413, {}, "").context_limit_tokens == 0 ? 0 : 1;
}
