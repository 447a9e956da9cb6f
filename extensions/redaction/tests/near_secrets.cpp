// What is near to a secret, on either side of the line: passwords that read like names, and code, prose, keys of caches
// and hashes that look like secrets.
#include "whittle/redaction/redaction.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::json;

namespace {

std::string masked_content(std::string_view text) { return Redactor().text_or_json(text).text; }

void check_that_all_stay(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) CHECK(masked_content(text) == text);
}

std::string repeated(std::string_view text, std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) all += text;
    return all;
}

}  // namespace

TEST_CASE("no text takes time by the square of its size", "[redaction][large]") {
    constexpr std::size_t bytes = 3'000'000;  // by the square each of them takes many minutes
    for (const std::string& text :
         {repeated("-----BEGIN ", bytes), repeated("-----BEGIN CERTIFICATE----- ", bytes), repeated("token=a,", bytes),
          repeated("curl -u a ", bytes), std::string(bytes / 2, ' ') + repeated("A_TOKEN=a ", bytes / 2),
          repeated("<token>", bytes), repeated("key=", bytes), repeated("tool --token a ", bytes)}) {
        CAPTURE(text.substr(0, 40));
        const bool stays = masked_content(text) == text;  // Catch2 would print it
        const bool stays_as_json = masked_content(json{{"text", text}}.dump()) == json{{"text", text}}.dump();
        CHECK(stays);
        CHECK(stays_as_json);
    }
    const std::string keys = masked_content(json{{"text", repeated(".MIIEpAIBAAKCAQEA", bytes)}}.dump());
    CHECK(keys.find("MIIE") == std::string::npos);  // each is masked by itself
}

namespace {

/// Of the processor, for masking `text`; the least of three.
double seconds_for(const Redactor& redactor, const std::string& text) {
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
        const std::clock_t begin = std::clock();
        (void)redactor.text_or_json(text);
        least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
}

/// Lines of an array, of which the first one begins as a private key does behind `bytes` of spaces.
std::string key_behind_spaces(std::size_t bytes) {
    json lines = json::array({std::string(bytes / 2, ' ') + "MIIEowIBAAAAAAAA"});
    for (std::size_t i = 0; i < bytes / 10; ++i) lines.push_back(" A");
    return lines.dump();
}

}  // namespace

TEST_CASE("eight times the text takes less than 24 times the work", "[redaction][large]") {
    const Redactor plain;
    const Redactor with_words({.secret_words = {"Project Tiger"}});
    const auto string_of = [](std::string_view piece) {
        return [piece](std::size_t bytes) { return json{{"text", repeated(piece, bytes)}}.dump(); };
    };
    const std::vector<std::pair<const Redactor*, std::function<std::string(std::size_t)>>> cases{
        {&plain, key_behind_spaces},
        {&plain, string_of("curl -u a ")},
        {&plain, string_of("tool --token a ")},
        {&with_words, string_of("Project Tiger")}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& [redactor, make] = cases[i];
        constexpr std::size_t bytes = 250'000;
        const double once = seconds_for(*redactor, make(bytes));
        const double eight = seconds_for(*redactor, make(8 * bytes));
        CAPTURE(i, once, eight);
        CHECK(eight < 24 * once);
    }
}

TEST_CASE("a password that has the word password or secret in it is masked, the name of a type is not", "[redaction]") {
    CHECK(masked_content("password: mypassword123") == "password: ***");
    CHECK(masked_content("password: MyPassword1!") == "password: ***");
    CHECK(masked_content("password: secret!secret") == "password: ***");
    CHECK(masked_content("password: my-secret-password") == "password: ***");
    CHECK(masked_content("DB_PASSWORD: Sup3rSecret") == "DB_PASSWORD: ***");
    CHECK(masked_content("POSTGRES_PASSWORD: postgres_password") == "POSTGRES_PASSWORD: ***");
    CHECK(masked_content("password=supersecret1") == "password=***");
    CHECK(masked_content("jdbc:mysql://h/db?user=a&password=topsecret99") == "jdbc:mysql://h/db?user=a&password=***");
    check_that_all_stay({"token: CancellationToken", "token: CancellationToken?", "token: *auth.AccessToken,",
                         "password = settings.db_password", "token: crate::AccessToken"});
}

TEST_CASE("a mask shows a quarter of a secret at most", "[redaction]") {
    const Redactor redactor({.shown_prefix_bytes = 4});
    CHECK(redactor.text("password: abcdefg8").text == "password: ab***");
    CHECK(redactor.text("password: abcdefghijk8").text == "password: abc***");
    CHECK(redactor.text("password: abcdefghijklmno8").text == "password: abcd***");
    const Redactor generous({.shown_prefix_bytes = 12});
    const std::string once = generous.json(R"({"password":"abcdefghijklmnopabcdefghijklmnopabcdefghijklmnop"})").text;
    CHECK(once == R"({"password":"abcdefghijkl***"})");
    CHECK(generous.json(once).text == once);
}

TEST_CASE("signs of programs between names assign nothing", "[redaction]") {
    check_that_all_stay({"case Token::Identifier", "use crate::token::TokenKind;", "if token == expected_value",
                         "tokens.map(token => transform)", "if (password === confirmation)"});
    CHECK(masked_content("if password == \"swordfish\"") == "if password == \"***\"");
    CHECK(masked_content("'password' => 'swordfish'") == "'password' => '***'");
}

TEST_CASE("a key of AWS has 20 capitals and digits, no more and no less", "[redaction]") {
    check_that_all_stay({"ACCATTGACCATGGAACCATTGGCC", "ASIA_PACIFIC_REGION", "ASIA_PACIFIC_REGION_NUMBER_1 ",
                         "ACCATTGACCATGGAACCAT ", "ASIANANDOTHERREGIONS ", "AKIAIOSFODNN7EXAMPLEAB ",
                         "AKIAIOSFODNN7 "});
    CHECK(masked_content("id AKIAIOSFODNN7EXAMPLE, and more") == "id ***, and more");
    CHECK(masked_content("AKIAIOSFODNN7EXAMPLE") == "***");
    CHECK(masked_content("AKIAIOSFODNN7EXAMPLE_eu") == "***_eu");
    CHECK(masked_content("AKIAIOSFODNN7") == "***");  // what the end cuts off
}

TEST_CASE("prose about logins is no line of .netrc", "[redaction]") {
    check_that_all_stay({"FATAL: login failed: password authentication failed",
                         "the login page asks for a password reset-2026 link", "enter login and password combination"});
    CHECK(masked_content("machine h.example.com login ann password swordfish") ==
          "machine h.example.com login ann password ***");
    CHECK(masked_content("login ann password swordfish1") == "login ann password ***");
    CHECK(masked_content("machine h.example.com password swordfish") == "machine h.example.com password ***");
}

TEST_CASE("keys that are made of words, hashes, UUIDs, dates and paths are no secrets", "[redaction]") {
    const std::string hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    check_that_all_stay({"key: Linux-npm-" + hash, "key: node-cache-Linux-x64-npm-" + hash,
                         R"("Key": "prod/2026-11-28T05-00-00Z-25a066b42aec.log")",
                         R"({"Key": "prod/2026-11-28T05-00-00Z-25a066b42aec.log"})",
                         R"(key: "2026-11-28T05:16:04.123Z")", "Key: 507f1f77bcf86cd799439011",
                         "key: user:123e4567-e89b-12d3-a456-426614174000:profile",
                         "sig: build-20241105T101112Z-25a066b42aec"});
    CHECK(masked_content("key: q8Zr2LkX0vPw7TnB4mYc") == "key: ***");
    CHECK(masked_content("key: 7KQ2-9MPL-3TZW-VB4H") == "key: ***");
    CHECK(masked_content("key: q8Zr2LkX0v-Pw7TnB4mYc") == "key: ***");
}

TEST_CASE("what compilers and listings write between colons is no line of .pgpass", "[redaction]") {
    check_that_all_stay({"main.c:1024:warning:unused:variable", "localhost:8080:web:http:healthy",
                         "app.cpp:2048:error:C2065:undeclared"});
    CHECK(masked_content("db:5433:shop:ann:swordfish") == "db:5433:shop:ann:***");
    CHECK(masked_content("db:*:shop:ann:swordfish") == "db:*:shop:ann:***");
    CHECK(masked_content("db:6432:shop:ann:q8Zr2LkX0v") == "db:6432:shop:ann:***");
}

TEST_CASE("credentials are what a browser sends as often as a secret", "[redaction]") {
    check_that_all_stay({"fetch(u, { credentials: 'same-origin' })", R"({"credentials":"same-origin"})",
                         "credentials: path/to/service-account.json"});
    CHECK(masked_content("credentials: 'q8Zr2LkX0vPw7TnB4mYc'") == "credentials: '***'");
}

TEST_CASE("an address that ends behind a colon and words has no password", "[redaction]") {
    check_that_all_stay({"http://localhost:PORT_HERE", "redis://cache:default", "http://host:port_number1"});
    CHECK(masked_content("postgres://app:q8Zr2LkX0v") == "postgres://app:***");
}

TEST_CASE("a value that begins with $ is a secret unless it is the name of a variable", "[redaction]") {
    CHECK(masked_content("password = \"$ecret1!\"") == "password = \"***\"");
    CHECK(masked_content("password: $Pa55w0rd") == "password: ***");
    CHECK(masked_content("DB_PASSWORD='$tr0ng#Pass'") == "DB_PASSWORD='***'");
    CHECK(masked_content("curl -u 'ann:$Pa55w0rd!' https://h") == "curl -u 'ann:***' https://h");
    CHECK(masked_content(R"({"password":"$ecret1!"})") == R"({"password":"***"})");
    check_that_all_stay({"password = $PASSWORD", "password = \"$PASSWORD_2\"", "password = \"${PASSWORD}\"",
                         "password: $dbPassword", "password = $this->password", "password: \"$(pass show shop/db)\"",
                         "password=$DB_USER-$DB_PASS", "token: \"$HOME/.token-file\"", "password: $$PASSWORD_OF_MAKE",
                         "token = \"$env:API_TOKEN\"", R"({"password":"$PASSWORD"})",
                         R"({"password":"${DB_PASSWORD}"})", "curl -u \"$API_USER:$API_PASSWORD\" https://h"});
}

TEST_CASE("a command that goes on in the next line is one command", "[redaction]") {
    CHECK(masked_content("curl \\\n  -u ann:swordfish1 \\\n  https://h") == "curl \\\n  -u ann:*** \\\n  https://h");
    CHECK(masked_content("curl -X POST \\\r\n  --user \\\r\n  'ann:swordfish1' \\\r\n https://h") ==
          "curl -X POST \\\r\n  --user \\\r\n  'ann:***' \\\r\n https://h");
    CHECK(masked_content("tool --password \\\n  swordfish1 \\\n  --verbose") ==
          "tool --password \\\n  *** \\\n  --verbose");
    CHECK(masked_content("curl ^\n  -u ann:swordfish1") == "curl ^\n  -u ann:***");
    CHECK(masked_content(json{{"command", "curl \\\n -u ann:swordfish1"}}.dump()) ==
          json{{"command", "curl \\\n -u ann:***"}}.dump());
    CHECK(Redactor().text_or_json("tool --password \\\n  swordfish1").places.at("named") == 1);
    check_that_all_stay({"curl https://h\nps -u ann:swordfish1", "docker run \\\n  -u 1000:1000 \\\n  image",
                         "set DIR=C:\\work\\\nname: ann", "tool --password \\\n  $PASSWORD"});
}

TEST_CASE("signs of addresses stand in passwords of addresses too", "[redaction]") {
    CHECK(masked_content("postgres://app:p@ss@db:5432/shop") == "postgres://app:***@db:5432/shop");
    CHECK(masked_content("DATABASE_URL=mysql://root:p@ss@w0rd!@db/shop") == "DATABASE_URL=mysql://root:***@db/shop");
    CHECK(masked_content("\"amqp://a:b@c@d@h:5672\"") == "\"amqp://a:***@h:5672\"");
    CHECK(masked_content("redis://:pa/ss1@cache:6379/0") == "redis://:***@cache:6379/0");
    CHECK(masked_content("https://ann:pa?ss#1@h.example/x") == "https://ann:***@h.example/x");
    check_that_all_stay({"http://localhost:3000/@scope/pack-1", "see http://localhost:3000,ann@example.com",
                         "http://host:8080/a?mail=ann@example.com", "http://host:{port}/users/1/@me",
                         "https://example.com/a:b1/@ann", "postgres://app:${DB_PASSWORD}@db/shop"});
}

TEST_CASE("lines of .netrc are known by each other, also behind numbers", "[redaction]") {
    CHECK(masked_content("machine h\n  login ann\n  password swordfish\n") ==
          "machine h\n  login ann\n  password ***\n");
    CHECK(masked_content("     1\tmachine h\n     2\t  login ann\n     3\t  password swordfish\n     4\tend") ==
          "     1\tmachine h\n     2\t  login ann\n     3\t  password ***\n     4\tend");
    CHECK(masked_content("12: machine h login ann password swordfish") == "12: machine h login ann password ***");
    CHECK(masked_content("+machine h\n+login ann password swordfish") == "+machine h\n+login ann password ***");
    CHECK(masked_content("  7\tpassword sword-fish1") == "  7\tpassword ***");
    check_that_all_stay({"machine learning is fun\npassword managers too", "login page\npassword forgotten",
                         "  7\tpassword required.", "password =", "*** password =1", "password changed!",
                         "1) password required: yes"});
}

TEST_CASE("a value that begins with $ or < is a secret unless a program fills it in", "[redaction]") {
    CHECK(masked_content(R"({"password":"$Q7!xT2pm9#z"})") == R"({"password":"***"})");
    CHECK(masked_content(R"({"password":"<Xk92!ddk29s"})") == R"({"password":"***"})");
    CHECK(masked_content("DB_PASSWORD='$UP3R!Secret9'") == "DB_PASSWORD='***'");
    CHECK(masked_content("curl -u 'ann:$Q7!xT2pm9' https://h") == "curl -u 'ann:***' https://h");
    check_that_all_stay({"password = $oauth2_secret", "token=$k8s_token", "tool --password $db2_pass",
                         "password: $oauth2Token", "password = \"$PASSWORD!\"", "password = \"$DB_PASS@db\"",
                         "DB_PASSWORD=<your-password", "password: \"<your password>\"",
                         R"({"password":"<your_password>"})", R"({"password":"$DB2_PASSWORD"})"});
}

TEST_CASE("a backslash of its own at the end of a value does not hide the mark that closes it", "[redaction]") {
    const std::string behind = R"(,"x":"y")" + std::string(70'000, ' ');
    CHECK(masked_content(R"({"password":"abcdefgh\\")" + behind) == R"({"password":"***")" + behind);
    CHECK(masked_content(R"(password = "abcd\"efgh", x = "y")") == R"(password = "***", x = "y")");
    CHECK(masked_content(R"(say \"password\": \"abcdefgh\\\\\", \"x\": \"y\")") ==
          R"(say \"password\": \"***\", \"x\": \"y\")");
    CHECK(masked_content(R"(say \"password\": \"abcd\\\"efgh\", \"x\": \"y\")") ==
          R"(say \"password\": \"***\", \"x\": \"y\")");
}

TEST_CASE("lists, tables and types with the word password in them are no lines of .netrc", "[redaction]") {
    check_that_all_stay({"- machine learning\n- password managers\n", "default\npassword authentication\n",
                         "   12\t    password VARCHAR(255),", "   12\t    password VARCHAR(255) NOT NULL,",
                         "type User struct {\n\tpassword []byte\n\tpassword *pgtype.Text\n}",
                         "  password sql.NullString", "  password uint64", "machine learning password managers"});
    CHECK(masked_content("machine h.example.com\npassword swordfish\n") == "machine h.example.com\npassword ***\n");
    CHECK(masked_content("default\n  login ann\n  password swordfish\n") == "default\n  login ann\n  password ***\n");
    CHECK(masked_content("machine h\n  login ann\n  account x\n  password swordfish\n") ==
          "machine h\n  login ann\n  account x\n  password ***\n");
}

TEST_CASE("where a secret is to be found is none, in files of an environment too", "[redaction]") {
    check_that_all_stay({"POSTGRES_PASSWORD_FILE=/run/secrets/db_password",
                         "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
                         "TOKENIZER_MODEL=meta-llama/Llama-3-8B", "HF_TOKENIZER_REPO=meta-llama/Llama-3-8B",
                         "TOKEN_URL=https://login.example.com/oauth2/token", "PASSWORD_STORE_DIR=/home/ann/passwords",
                         "SECRET_NAME=shop-database-login", "DB_PASSWORD=/run/secrets/db_password"});
    CHECK(masked_content("SECRET_KEY_BASE=swordfish-1") == "SECRET_KEY_BASE=***");
    CHECK(masked_content("DB_PASSWORD=/Xk92/ddk29s7") == "DB_PASSWORD=***");
    CHECK(masked_content("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY") ==
          "AWS_SECRET_ACCESS_KEY=***");
}

TEST_CASE("a program or a list that names the mark of a private key begins none", "[redaction]") {
    const std::string mark = "-----BEGIN RSA PRIVATE KEY-----";
    check_that_all_stay({"if s.startswith(\"" + mark + "\"):\n    continue\n", "looks_for('" + mark + "')\nreturn\n",
                         "if (text.has(\"" + mark + "\")) {\n  abcdefgh12345678\n}", "\"" + mark + "\",\n\"ghp\",\n",
                         json{{"markers", {mark, "ghp", "xoxb"}}}.dump()});
    CHECK(masked_content(mark + "\nMIIB\nab12\n") == mark + "\n***\n***\n");
    CHECK(masked_content(mark + "\nq9KpM1uHj7Zx3cVbN5mLkQ0w\nab12\n") == mark + "\n***\n***\n");
}

TEST_CASE("an address of a page about people has no password", "[redaction]") {
    check_that_all_stay({"http://HOST:PORT/api/v1/users/ann@example.com", "http://host:port/v1/ann@example.com",
                         "http://example.com:API_PORT/v1/ann@example.com",
                         "https://wiki:main/pages/team/v2/ann@example.com"});
    CHECK(masked_content("redis://:pa/ss1@cache:6379/0") == "redis://:***@cache:6379/0");
}

TEST_CASE("an address by content is a hash", "[redaction]") {
    check_that_all_stay({"ipfs get QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKQpbn"});
}

TEST_CASE("JSON in which nothing is masked keeps its spelling, in arrays with certificates too", "[redaction]") {
    check_that_all_stay(
        {R"(["-----BEGIN CERTIFICATE-----","MIID\/x"])", R"({"a":["x","-----BEGIN CERTIFICATE-----\n","MIID\/x\n"]})"});
}

TEST_CASE("what programs assign to a name is masked, what they say about it is not", "[redaction]") {
    for (const auto& [front, behind] :
         std::vector<std::pair<std::string, std::string>>{{"password: str = \"", "\""},
                                                          {"password: str | None = '", "'"},
                                                          {"let password: &str = \"", "\";"},
                                                          {"var apiKey string = \"", "\""},
                                                          {"const dbPassword string = \"", "\""},
                                                          {"char password[] = \"", "\";"},
                                                          {"static const char password[64] = \"", "\";"},
                                                          {"os.environ[\"DB_PASSWORD\"] = \"", "\""},
                                                          {"$cfg['db_password'] = '", "';"},
                                                          {"define('DB_PASSWORD', '", "');"},
                                                          {"os.getenv(\"DB_PASSWORD\", \"", "\")"},
                                                          {"os.environ.get(\"API_TOKEN\", \"", "\")"},
                                                          {"const secret = process.env.API_SECRET || '", "';"},
                                                          {"process.env.API_SECRET ?? \"", "\""},
                                                          {"if (password === \"", "\") {"},
                                                          {"#define WIFI_PASSWORD \"", "\""},
                                                          {"ENV DB_PASSWORD ", ""}}) {
        CAPTURE(front);
        CHECK(masked_content(front + "hunter2222" + behind) == front + "***" + behind);
        const std::string text = front + "hunter2222" + behind;
        const json in_json = json::parse(masked_content(json{{"text", text}}.dump()));
        CHECK(in_json["text"] == front + "***" + behind);
    }
    CHECK(masked_content("define('DB_PASSWORD', 'swordfish')") == "define('DB_PASSWORD', '***')");
    check_that_all_stay({"[\"password\", \"created_at\", \"updated_at\"]",
                         "(\"token\", \"identifier\")",
                         "labels[\"password\"] = \"Enter your password\"",
                         "labels['password'] = this.password",
                         "token ?? \"not-configured\"",
                         "password || 'Password required'",
                         "if (token === \"identifier\")",
                         "token: str = \"identifier\"",
                         "define('ERR_TOKEN', 'Invalid token supplied')",
                         "os.getenv(\"API_TOKEN\", \"not-configured\")",
                         "password: str = Field(...)",
                         "def login(user: str, password: str, name: str = \"somebody-1\")",
                         "a || token || \"\"",
                         "ENV API_TOKEN is required here",
                         "#define TXT_kECDHEPSK \"kECDHEPSK\"",
                         "#define SN_kx_psk \"KxECDHE-PSK\"",
                         "Authorization: MAC id=\"h480djs93hd8\"",
                         "tokens[token] = \"identifier1\"",
                         "var token = parser.next()",
                         "const password = useState(\"\")",
                         "password[0] == other[0]",
                         "char token[64];"});
}

TEST_CASE("strings of a list under a name are masked where they look like secrets", "[redaction]") {
    CHECK(masked_content(R"({"X-Api-Key":["k3Jx9QpL2vRtW8"],"b":["k3Jx9QpL2vRtW8"]})") ==
          R"({"X-Api-Key":["***"],"b":["k3Jx9QpL2vRtW8"]})");
    CHECK(masked_content(R"({"Authorization":["q8Zr2LkX0vPw7TnB4mYc","q8Zr2LkX0vPw7TnB4mYd"]})") ==
          R"({"Authorization":["***","***"]})");
    check_that_all_stay({R"({"password":["must have 8 characters","required","too-short"]})",
                         R"({"token":[{"kind":"identifier12"}],"secret":["shop/database/login-1"]})"});
}

TEST_CASE("passwords of sshpass, redis-cli and of connections with a user are masked", "[redaction]") {
    CHECK(masked_content("sshpass -p 'hunter22' ssh ann@h") == "sshpass -p '***' ssh ann@h");
    CHECK(masked_content("redis-cli -h cache -a hunter22 ping") == "redis-cli -h cache -a *** ping");
    CHECK(masked_content("Server=db;Uid=sa;Pwd=Summer2024!;Encrypt=true") == "Server=db;Uid=sa;Pwd=***;Encrypt=true");
    check_that_all_stay({"mkdir -p directory1", "ls -a directory1", "sshpass -p $PASSWORD ssh h", "sshpass -p password",
                         "sshpass -p -oBatchMode=yes ssh h", "redis-cli ping; ls -a directory1", "PWD=/home/ann/work",
                         "user=ann; pwd=short", "pwd=directory1"});
}
