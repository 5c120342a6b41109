/*
 * settings: bad confs, and what the operator reads then.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "settings/conf.h"
#include "settings/outline.h"

#include "settings_offer.h"

#define ADDRESS_RULE "give \"127.0.0.1:8888\" or \"[::1]:8888\", numeric, port 0 to 65535"
#define DURATION_RULE ", with its unit: ms, s, m, h or d"
#define NAME_RULE "a name of at most 63 letters, digits, '.', '_' and '-'"
#define TITLE_RULE "the name of a section is expected, of letters, digits, '.', '_' and '-'"
#define NAME_63 "a23456789012345678901234567890123456789012345678901234567890123"

#define NO_VARIABLE \
	"t.conf:1: '${' does not go on as ${NAME} or ${NAME:-text}; write \\$ for a dollar"
#define NO_WORD                                                               \
	"t.conf:1: a comment begins within a word; quote the text, or put a " \
	"blank before the comment"

struct bad {
	const char *conf, *reason;
};

static const struct bad bad_syntax[] = {
	{ "\n\nworkers = \"4", "t.conf:3: a string is not closed on its line; \" is missing" },
	{ "log = 'a\nb'", "t.conf:1: a string is not closed on its line; ' is missing" },
	{ "log = \"a\r\nb\"", "t.conf:1: a string is not closed on its line; \" is missing" },
	{ "log = \"a\\\nb\"", "t.conf:1: a string is not closed on its line; \" is missing" },
	{ "log = 'a\\", "t.conf:1: a string is not closed on its line; ' is missing" },
	{ "\"", "t.conf:1: a string is not closed on its line; \" is missing" },
	{ "log = \"\\q\"", "t.conf:1: '\\q' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\0\"", "t.conf:1: '\\0' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\000\"", "t.conf:1: '\\0' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\400\"", "t.conf:1: '\\4' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\1234\"", "t.conf:1: '\\1' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\18\"", "t.conf:1: '\\1' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\8\"", "t.conf:1: '\\8' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\x\"", "t.conf:1: '\\x' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\x00\"", "t.conf:1: '\\x' is no escape; write \\\\ for a backslash" },
	{ "log = \"\\x0g\"", "t.conf:1: '\\x' is no escape; write \\\\ for a backslash" },
	{ "log = \"${\"", NO_VARIABLE },
	{ "log = \"${A\"\n}", NO_VARIABLE },
	{ "log = \"${}\"", NO_VARIABLE },
	{ "log = \"${:-a}\"", NO_VARIABLE },
	{ "log = \"${A:-\\}}\"", NO_VARIABLE },
	{ "log = '\1'", "t.conf:1: byte 0x01 in a string; write it as \\x01 in double quotes" },
	{ "log = '\r'", "t.conf:1: byte 0x0d in a string; write it as \\x0d in double quotes" },
	{ "log = '\x7f'",
	    "t.conf:1: byte 0x7f in a string; write it as \\x7f in double quotes" },
	{ "workers = 4*", "t.conf:1: '*' outside of quotes; quote the text" },
	{ "workers = ${N}", "t.conf:1: '$' outside of quotes; quote the text" },
	{ "address += 1", "t.conf:1: '+' outside of quotes; quote the text" },
	{ "include(\"x\")", "t.conf:1: '(' outside of quotes; quote the text" },
	{ "listen|main = 1", "t.conf:1: '|' outside of quotes; quote the text" },
	{ "workers = 4;", "t.conf:1: ';' outside of quotes; quote the text" },
	{ "\xef\xbb\xbfworkers = 4", "t.conf:1: byte 0xef outside of quotes" },
	{ "workers\f= 4", "t.conf:1: byte 0x0c outside of quotes" },
	{ "workers\r= 4", "t.conf:1: byte 0x0d outside of quotes" },
	{ "\n/* \n", "t.conf:2: the comment that begins here has no end" },
	{ "/*/ ", "t.conf:1: the comment that begins here has no end" },
	{ "log = /a//b", NO_WORD },
	{ "log = /a/*b*/", NO_WORD },
	{ "workers", "t.conf:1: the file ends where '=' is expected" },
	{ "workers 4", "t.conf:1: '4' stands where '=' is expected" },
	{ "workers =", "t.conf:1: the file ends where a value is expected" },
	{ "workers = = 4", "t.conf:1: '=' stands where a value is expected" },
	{ "workers = }", "t.conf:1: '}' stands where a value is expected" },
	{ "workers = 4 5", "t.conf:1: the file ends where '=' is expected" },
	{ "log = \"a\" \"b\"", "t.conf:1: 'b' stands where the name of an option is expected" },
	{ "\"workers\" = 4",
	    "t.conf:1: 'workers' stands where the name of an option is expected" },
	{ "listen=main = 4", "t.conf:1: '=' stands where " TITLE_RULE },
	{ "a.b = 4", "t.conf:1: 'a.b' stands where the name of an option is expected" },
	{ "= 4", "t.conf:1: '=' stands where the name of an option is expected" },
	{ "\n}", "t.conf:2: '}' stands where the name of an option is expected" },
	{ "log = { a", "t.conf:1: the file ends where ',' or the '}' of a list is expected" },
	{ "log = { a,",
	    "t.conf:1: the file ends where a value or the '}' of a list is expected" },
	{ "log = { a b }", "t.conf:1: 'b' stands where ',' or the '}' of a list is expected" },
	{ "log = { , }",
	    "t.conf:1: ',' stands where a value or the '}' of a list is expected" },
	{ "log = { { a } }",
	    "t.conf:1: '{' stands where a value or the '}' of a list is expected" },
	{ "server main { }", "t.conf:1: 'main' stands where '=' is expected" },
	{ "listen { }", "t.conf:1: '{' stands where " TITLE_RULE },
	{ "listen \n", "t.conf:2: the file ends where " TITLE_RULE },
	{ "listen a/b { }", "t.conf:1: 'a/b' stands where " TITLE_RULE },
	{ "listen '' { }", "t.conf:1: '' stands where " TITLE_RULE },
	{ "listen .a { }", "t.conf:1: '.a' stands where " TITLE_RULE },
	{ "listen \"${HOME}\" { }", "t.conf:1: '${HOME}' stands where " TITLE_RULE },
	{ "listen " NAME_63 "4 { }",
	    "t.conf:1: 'a234567890123456789012345678901234567890' stands where " TITLE_RULE },
	{ "listen a b { }", "t.conf:1: 'b' stands where the '{' of a section is expected" },
	{ "listen a = 1", "t.conf:1: '=' stands where the '{' of a section is expected" },
	{ "listen a", "t.conf:1: the file ends where the '{' of a section is expected" },
	{ "\nlisten a {\nlog = 1\n\n", "t.conf:2: listen 'a': it is not closed before the end "
				       "of the file; '}' is missing" },
	{ "\nmodule a {\nlisten b { }",
	    "t.conf:2: module 'a': it is not closed before the section in line 3; '}' is "
	    "missing" },
	{ C10K "module \"c10k\" { }",
	    "t.conf:2: module 'c10k': there is one in line 1 already" },
	{ MAIN "\n" MAIN, "t.conf:3: listen 'main': there is one in line 1 already" },
	{ "workers = 1\nlog = a\nworkers = 1", "t.conf:3: workers: line 1 sets it already" },
	{ "listen main {\nline { }\nline { }\n}",
	    "t.conf:3: listen 'main': line: there is one in line 2 already" },
	{ "listen main {\nline {\nid = 1\nid = 1 }\n}",
	    "t.conf:4: listen 'main': line: id: line 3 sets it already" },
	{ "listen main {\nline {\n}\n\n",
	    "t.conf:1: listen 'main': it is not closed before the end of the file; '}' is "
	    "missing" },
	{ "listen main {\nline {\n", "t.conf:2: listen 'main': line: it is not closed before "
				     "the end of the file; '}' is missing" },
	{ "listen main {\nline {\nlisten b { }",
	    "t.conf:2: listen 'main': line: it is not closed before the section in line 3; "
	    "'}' is missing" },
	{ "listen main {\nline x { }\n}", "t.conf:2: 'x' stands where '=' is expected" },
	{ "\nline { }", "t.conf:2: line: it belongs in a listen or connect section" },
	{ "module a {\nhtlv-crc { } }",
	    "t.conf:2: htlv-crc: it belongs in a listen or connect section" },
	{ "listen a {\nline {\nhtlv-crc { } } }",
	    "t.conf:3: htlv-crc: it belongs in a listen or connect section" },
	{ "listen main {\nframing = tlv\nframing = tlv\n}",
	    "t.conf:3: listen 'main': framing: line 2 sets it already" },
	{ "module game {\nrealm = a\nrealm = {}\n}",
	    "t.conf:3: module 'game': realm: line 2 sets it already" },
};

static const struct bad bad_options[] = {
	{ "# one\n\nwrokers = 4", "t.conf:3: wrokers: no such option" },
	{ "/*\n*/ // /*\n/* \n\n */ wrokers = 4", "t.conf:5: wrokers: no such option" },
	{ "Workers = 4", "t.conf:1: Workers: no such option" },
	{ "listen a {\n\tmax-mesage = 4\n}",
	    "t.conf:2: listen 'a': max-mesage: no such option" },
	{ "listen a {\n/* */ workers = 4\n}",
	    "t.conf:2: listen 'a': workers: no such option here; it belongs outside of the "
	    "sections" },
	{ "\nframing = tlv",
	    "t.conf:2: framing: no such option here; it belongs in a listen section" },
	{ "\nreconnect-min = 1s",
	    "t.conf:2: reconnect-min: no such option here; it belongs in a connect section" },
	{ "workers = 0",
	    "t.conf:1: workers: '0' is refused; give a number from 1 to 256, or auto" },
	{ "workers = 257",
	    "t.conf:1: workers: '257' is refused; give a number from 1 to 256, or auto" },
	{ "workers = -1",
	    "t.conf:1: workers: '-1' is refused; give a number from 1 to 256, or auto" },
	{ "workers = 99999999999999999999999999999999999999999999999999",
	    "t.conf:1: workers: '9999999999999999999999999999999999999999' is refused; give a "
	    "number from 1 to 256, or auto" },
	{ "workers = 4k",
	    "t.conf:1: workers: '4k' is refused; give a number from 1 to 256, or auto" },
	{ "workers = AUTO",
	    "t.conf:1: workers: 'AUTO' is refused; give a number from 1 to 256, or auto" },
	{ "workers = ''",
	    "t.conf:1: workers: '' is refused; give a number from 1 to 256, or auto" },
	{ "\nworkers =\n{ }", "t.conf:2: workers: an empty list is refused; give a number from "
			      "1 to 256, or auto" },
	{ "workers = { 1, 2 }",
	    "t.conf:1: workers: a list is refused; give a number from 1 to 256, or auto" },
	{ "worker-cpu-affinity = { 0, all }",
	    "t.conf:1: worker-cpu-affinity: 'all' is refused; give CPUs such as 3, 0-3 or "
	    "\"0,2-3\", auto or none" },
	{ "core-dumps = 0",
	    "t.conf:1: core-dumps: '0' is refused; give a size from 1 to 1024G, or off" },
	{ "pid-file = run/pid",
	    "t.conf:1: pid-file: 'run/pid' is refused; give an absolute path or \"\"" },
	{ "module-dir = ''", "t.conf:1: module-dir: '' is refused; give an absolute path" },
	{ "log = stdout",
	    "t.conf:1: log: 'stdout' is refused; give an absolute path, stderr or syslog" },
	{ "log = ''", "t.conf:1: log: '' is refused; give an absolute path, stderr or syslog" },
	{ "log-level = warning",
	    "t.conf:1: log-level: 'warning' is refused; give error, warn, info or debug" },
	{ "log-format = 1", "t.conf:1: log-format: '1' is refused; give text or json" },
	{ "drain-timeout = 30",
	    "t.conf:1: drain-timeout: '30' is refused; give a duration from "
	    "1ms to 30d" DURATION_RULE },
	{ "drain-timeout = 0", "t.conf:1: drain-timeout: '0' is refused; give a duration from "
			       "1ms to 30d" DURATION_RULE },
	{ "drain-timeout = 31d", "t.conf:1: drain-timeout: '31d' is refused; give a duration "
				 "from 1ms to 30d" DURATION_RULE },
	{ "worker-send-memory = 127",
	    "t.conf:1: worker-send-memory: '127' is refused; give a size from 128 to 1024G" },
	{ "worker-threads = 0",
	    "t.conf:1: worker-threads: '0' is refused; give a number from 1 to 256" },
	{ "worker-threads = 257",
	    "t.conf:1: worker-threads: '257' is refused; give a number from 1 to 256" },
	{ "worker-jobs = 0",
	    "t.conf:1: worker-jobs: '0' is refused; give a number from 1 to 1048576" },
	{ "worker-jobs = 1048577",
	    "t.conf:1: worker-jobs: '1048577' is refused; give a number from 1 to 1048576" },
	{ "worker-send-memory = 2048G",
	    "t.conf:1: worker-send-memory: '2048G' is refused; give a size from 128 to 1024G" },
	{ "module c10k { path = ./c10k.so }",
	    "t.conf:1: module 'c10k': path: './c10k.so' is refused; give an absolute path, the "
	    "name of a file in module-dir or \"\"" },
	{ "listen a { modules = c10k\n}",
	    "t.conf:1: listen 'a': address: it must be given: \"127.0.0.1:8888\" or "
	    "\"[::1]:8888\", numeric, port 0 to 65535" },
	{ "listen a { address = unix:/a modules = c10k\n}",
	    "t.conf:1: listen 'a': address: 'unix:/a' is refused; give \"127.0.0.1:8888\" or "
	    "\"[::1]:8888\", numeric, port 0 to 65535" },
	{ "listen a {\n address = \"[::1]:1\"\n}",
	    "t.conf:1: listen 'a': modules: it must be given: " NAME_RULE },
	{ "listen a {\n address = localhost:1\n}",
	    "t.conf:2: listen 'a': address: 'localhost:1' is refused; " ADDRESS_RULE },
	{ "listen a {\n address = { 127.0.0.1:1, 127.0.0.1:65536 }\n}",
	    "t.conf:2: listen 'a': address: '127.0.0.1:65536' is refused; " ADDRESS_RULE },
	{ "listen a {\n address = {\n}\n}",
	    "t.conf:2: listen 'a': address: an empty list is refused; " ADDRESS_RULE },
	{ "listen a { address = 127.0.0.1:1 framing = \"x y\" }",
	    "t.conf:1: listen 'a': framing: 'x y' is refused; give tlv, ltv, htlv-crc, "
	    "length-field, line or " NAME_RULE },
	{ "listen a {\n offset = 4\n}", "t.conf:2: listen 'a': offset: no such option here; it "
					"belongs in a length-field section within" },
	{ "listen a {\n terminator = lf\n}",
	    "t.conf:2: listen 'a': terminator: no such option here; it belongs in a line "
	    "section within" },
	{ "listen a { address = 127.0.0.1:1 modules = { \"a b\" } }",
	    "t.conf:1: listen 'a': modules: 'a b' is refused; give " NAME_RULE },
};

/* One of a listener's options is wrong. */
#define LISTENER(option) C10K "listen a { address = 127.0.0.1:1 modules = c10k\n" option " }"
#define IN_LISTENER "t.conf:3: listen 'a': "

static const struct bad bad_listeners[] = {
	{ LISTENER("max-message = 0"),
	    IN_LISTENER "max-message: '0' is refused; give a size from 1 to 64M" },
	{ LISTENER("max-message = 65M"),
	    IN_LISTENER "max-message: '65M' is refused; give a size from 1 to 64M" },
	{ LISTENER("max-message = 4kb"),
	    IN_LISTENER "max-message: '4kb' is refused; give a size from 1 to 64M" },
	{ LISTENER("max-connections = 0"), IN_LISTENER
	    "max-connections: '0' is refused; give a number from 1 to 16777216, or auto" },
	{ LISTENER("send-queue-messages = 0"), IN_LISTENER
	    "send-queue-messages: '0' is refused; give a number from 1 to 1048576" },
	{ LISTENER("send-queue-bytes = 2G"),
	    IN_LISTENER "send-queue-bytes: '2G' is refused; give a size from 128 to 1G" },
	{ LISTENER("when-full = drop"),
	    IN_LISTENER "when-full: 'drop' is refused; give pause, refuse or close" },
	{ LISTENER("send-timeout = 10"), IN_LISTENER
	    "send-timeout: '10' is refused; give a duration from 0 to 30d" DURATION_RULE },
	{ LISTENER("idle-timeout = 31d"), IN_LISTENER
	    "idle-timeout: '31d' is refused; give a duration from 0 to 30d" DURATION_RULE },
	{ LISTENER("heartbeat-interval = 1"), IN_LISTENER
	    "heartbeat-interval: '1' is refused; give a duration from 0 to 30d" DURATION_RULE },
	{ LISTENER("heartbeat-timeout = 31d"),
	    IN_LISTENER "heartbeat-timeout: '31d' is refused; give a duration from 0 to "
			"30d" DURATION_RULE },
	{ LISTENER("heartbeat-id = 4294967296"), IN_LISTENER
	    "heartbeat-id: '4294967296' is refused; give a number from 0 to 4294967295" },
	{ LISTENER("frame-timeout = -1s"), IN_LISTENER
	    "frame-timeout: '-1s' is refused; give a duration from 0 to 30d" DURATION_RULE },
	{ LISTENER("linger-timeout = \"2 s\""), IN_LISTENER
	    "linger-timeout: '2 s' is refused; give a duration from 0 to 30d" DURATION_RULE },
	{ LISTENER("unknown-message = ''"),
	    IN_LISTENER "unknown-message: '' is refused; give ignore or close" },
	{ LISTENER("bad-checksum = ignore"),
	    IN_LISTENER "bad-checksum: 'ignore' is refused; give close or skip" },
};

/* The same of an upstream. */
#define UPSTREAM(option) MAIN C10K "connect a { modules = c10k\n" option " }"
#define IN_UPSTREAM "t.conf:4: connect 'a': "

static const struct bad bad_upstreams[] = {
	{ UPSTREAM(""), "t.conf:3: connect 'a': address: it must be given: \"unix:/PATH\", "
			"\"127.0.0.1:8888\" or \"[::1]:8888\", numeric, port 0 to 65535" },
	{ UPSTREAM("address = 127.0.0.1:0"),
	    IN_UPSTREAM "address: '127.0.0.1:0' has no port to connect to" },
	{ UPSTREAM("address = { 127.0.0.1:1, 127.0.0.1:1 }"),
	    IN_UPSTREAM "address: '127.0.0.1:1' stands there twice" },
	{ UPSTREAM("address = unix:game"),
	    IN_UPSTREAM "address: 'unix:game' is refused; give \"unix:/PATH\", "
			"\"127.0.0.1:8888\" or \"[::1]:8888\", numeric, port 0 to 65535" },
	{ UPSTREAM("address = { \"unix:/a:0\", \"unix:/a:0\" }"),
	    IN_UPSTREAM "address: 'unix:/a:0' stands there twice" },
	{ UPSTREAM("max-connections = 1"), IN_UPSTREAM
	    "max-connections: no such option here; it belongs in a listen section" },
	{ UPSTREAM("max-message = 65M address = 127.0.0.1:2"),
	    IN_UPSTREAM "max-message: '65M' is refused; give a size from 1 to 64M" },
	{ UPSTREAM("address = 127.0.0.1:2 reconnect-min = 2s reconnect-max = 1s"),
	    IN_UPSTREAM "reconnect-min: it is more than reconnect-max" },
	{ UPSTREAM("address = 127.0.0.1:2 connect-timeout = 0"), IN_UPSTREAM
	    "connect-timeout: '0' is refused; give a duration from 1ms to 30d" DURATION_RULE },
	{ UPSTREAM("address = 127.0.0.1:2 send-queue-bytes = 4159"), IN_UPSTREAM
	    "send-queue-bytes: 4159 hold no message of max-message bytes; give at least 4160" },
	{ MAIN C10K "connect a { address = 127.0.0.1:2 modules = game }",
	    "t.conf:3: connect 'a': modules: there is no section for 'game'; add: module game "
	    "{ }" },
};

static const struct bad bad_together[] = {
	{ "", "t.conf: no listen section; add one, see runnel.conf(5)" },
	{ C10K, "t.conf: no listen section; add one, see runnel.conf(5)" },
	{ C10K MAIN "worker-cpu-affinity = { 0, auto }",
	    "t.conf:3: worker-cpu-affinity: 'auto' stands alone or not at all" },
	{ C10K MAIN "metrics-hosts = \"a:80\"",
	    "t.conf:3: metrics-hosts: 'a:80' is refused; give names of this host, without a "
	    "port" },
#ifdef HAVE_HTTP
	{ C10K MAIN "metrics-address = 127.0.0.1:1",
	    "t.conf:3: metrics-address: '127.0.0.1:1' is taken by listen 'main' in line 2" },
#else
	{ C10K MAIN "metrics-address = 127.0.0.1:2",
	    "t.conf:3: metrics-address: this runneld was built without HTTP: install "
	    "libmicrohttpd-dev and build it anew (configure --with-http), or do not set it" },
#endif
	{ MAIN, "t.conf:1: listen 'main': modules: there is no section for 'c10k'; add: "
		"module c10k { }" },
	{ C10K "listen a { address = 127.0.0.1:1\nmodules = { c10k, c10k } }",
	    "t.conf:3: listen 'a': modules: 'c10k' stands there twice" },
	{ C10K "listen a {\nmodules = c10k\naddress = { 127.0.0.1:1, 127.0.0.1:01 } }",
	    "t.conf:4: listen 'a': address: '127.0.0.1:1' stands there twice" },
	{ C10K MAIN "listen b { modules = c10k\naddress = { [::1]:1, 127.0.0.1:1 } }",
	    "t.conf:4: listen 'b': address: '127.0.0.1:1' is taken by listen 'main' in line "
	    "2" },
	{ LISTENER("send-queue-bytes = 4159"), IN_LISTENER
	    "send-queue-bytes: 4159 hold no message of max-message bytes; give at least 4160" },
	{ LISTENER("max-message = 1M"),
	    "t.conf:2: listen 'a': send-queue-bytes: 1M hold no message of max-message bytes; "
	    "give at least 1048640" },
	{ "worker-send-memory = 8191\n" LISTENER("send-queue-bytes = 8k"),
	    "t.conf:4: listen 'a': send-queue-bytes: 8k are more than worker-send-memory, "
	    "which "
	    "is 8191" },
};

#define GAME(option) MAIN C10K "module game {\n" option "\nrealm = r }"
#define IN_GAME "t.conf:4: module 'game': "

static const struct bad bad_modules[] = {
	{ MAIN C10K "\nmodule none { }",
	    "t.conf:4: module 'none': cannot load " MODULE_DIR "/none.so" },
	{ MAIN C10K "module none { path = /x/y.so }",
	    "t.conf:3: module 'none': cannot load /x/y.so" },
	{ MAIN C10K "\nmodule game {\n}",
	    "t.conf:4: module 'game': realm: it must be given: a text" },
	{ GAME("color = red"), IN_GAME "color: no such option" },
	{ GAME("color = {}"), IN_GAME "color: no such option" },
	{ GAME("Level = 1"), IN_GAME "Level: no such option" },
	{ GAME("log = stderr"),
	    IN_GAME "log: no such option here; it belongs outside of the sections" },
	{ GAME("level = -6"), IN_GAME "level: '-6' is refused; give a number from -5 to 9" },
	{ GAME("level = 10"), IN_GAME "level: '10' is refused; give a number from -5 to 9" },
	{ GAME("level = x"), IN_GAME "level: 'x' is refused; give a number from -5 to 9" },
	{ GAME("level = {}"),
	    IN_GAME "level: an empty list is refused; give a number from -5 to 9" },
	{ GAME("level = {1,2}"),
	    IN_GAME "level: a list is refused; give a number from -5 to 9" },
	{ GAME("bytes = 1023"), IN_GAME "bytes: '1023' is refused; give a size from 1k to 1M" },
	{ GAME("bytes = 2M"), IN_GAME "bytes: '2M' is refused; give a size from 1k to 1M" },
	{ GAME("pause = 99ms"), IN_GAME
	    "pause: '99ms' is refused; give a duration from 100ms to 1m" DURATION_RULE },
	{ GAME("pause = 61s"),
	    IN_GAME "pause: '61s' is refused; give a duration from 100ms to 1m" DURATION_RULE },
	{ GAME("is-open = yes"), IN_GAME "is-open: 'yes' is refused; give false or true" },
	{ GAME("is-open = 1"), IN_GAME "is-open: '1' is refused; give false or true" },
	{ GAME("score = -1"),
	    IN_GAME "score: '-1' is refused; give a number from 0 to 9223372036854775807" },
	{ GAME("score = 9223372036854775808"),
	    IN_GAME "score: '9223372036854775808' is refused; give a number from 0 to "
		    "9223372036854775807" },
	{ GAME("greeting = { a, b }"), IN_GAME "greeting: a list is refused; give a text" },
	{ MAIN C10K "module c10k-x { }",
	    "t.conf:3: module 'c10k-x': cannot load " MODULE_DIR "/c10k-x.so" },
	{ MAIN "module c10k { level = 1 }", "t.conf:2: module 'c10k': level: no such option" },
	{ MAIN C10K "module odd-name { }",
	    "t.conf:3: module 'odd-name': its option 'Odd_name' is not named by lower case "
	    "letters, digits and hyphens" },
	{ MAIN C10K "module no-name { }",
	    "t.conf:3: module 'no-name': its option 0 has no name" },
	{ MAIN C10K "module own-name { }",
	    "t.conf:3: module 'own-name': its option 'path' is runneld's own" },
	{ MAIN C10K "module twice { }", "t.conf:3: module 'twice': it has two options 'one'" },
	{ MAIN C10K "module odd-type { }",
	    "t.conf:3: module 'odd-type': its option 'one' is of an unknown type" },
	{ MAIN C10K "module odd-standard { }",
	    "t.conf:3: module 'odd-standard': the default of its option 'one', '0', breaks its "
	    "rule" },
};

START_TEST(syntax_is_refused)
{
	refuse(bad_syntax[_i].conf, bad_syntax[_i].reason);
}
END_TEST

START_TEST(option_is_refused)
{
	refuse(bad_options[_i].conf, bad_options[_i].reason);
}
END_TEST

START_TEST(option_of_a_listener_is_refused)
{
	refuse(bad_listeners[_i].conf, bad_listeners[_i].reason);
}
END_TEST

START_TEST(option_of_an_upstream_is_refused)
{
	refuse(bad_upstreams[_i].conf, bad_upstreams[_i].reason);
}
END_TEST

START_TEST(options_that_contradict_are_refused)
{
	refuse(bad_together[_i].conf, bad_together[_i].reason);
}
END_TEST

START_TEST(option_of_a_module_is_refused)
{
	refuse(bad_modules[_i].conf, bad_modules[_i].reason);
}
END_TEST

/* An error that libconfuse's lexer was left in must not reach the next conf. */
START_TEST(good_conf_loads_after_a_bad_one)
{
	struct settings *settings;

	refuse("workers = 0",
	    "t.conf:1: workers: '0' is refused; give a number from 1 to 256, or auto");
	settings = load(MAIN C10K);
	settings_destroy(&settings);
	refuse("log = \"\\q\"", "t.conf:1: '\\q' is no escape; write \\\\ for a backslash");
	settings = load(MAIN C10K);
	settings_destroy(&settings);
}
END_TEST

/* head, n items, tail; free(). */
static char *repeat(
    const char *head, void (*item)(unsigned int i, FILE *out), unsigned int n, const char *tail)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	fputs(head, out);
	for (unsigned int i = 0; i < n; i++)
		item(i, out);
	fputs(tail, out);
	fclose(out);
	return text;
}

static void print_listener(unsigned int i, FILE *out)
{
	fprintf(out, "listen l%u { address = 127.0.0.1:%u modules = c10k }\n", i, i + 1);
}

static void print_upstream(unsigned int i, FILE *out)
{
	fprintf(out, "connect u%u { address = 127.0.0.1:%u modules = c10k }\n", i, i + 1);
}

/* Modules that have no option. */
static void print_module(unsigned int i, FILE *out)
{
	fprintf(out, "module m%u { path = /m.so }\n", i);
}

static void print_key(unsigned int i, FILE *out)
{
	fprintf(out, "k%u = 1\n", i);
}

static void print_address(unsigned int i, FILE *out)
{
	fprintf(out, "127.0.0.1:%u,", i + 1);
}

static void load_and_forget(char *text, settings_find_f *find)
{
	struct settings *settings;
	struct reason why = { "" };

	ck_assert_msg(settings_load("t.conf", text, find, NULL, &settings, &why) == STATUS_OK,
	    "%s", why.text);
	settings_destroy(&settings);
	free(text);
}

static void refuse_and_forget(char *text, const char *expected)
{
	refuse(text, expected);
	free(text);
}

START_TEST(counts_are_limited)
{
	load_and_forget(repeat(C10K, print_listener, 64, ""), offer);
	refuse_and_forget(repeat(C10K, print_listener, 65, ""),
	    "t.conf:66: listen 'l64': one too many: there may be 64 listen sections");
	load_and_forget(repeat(MAIN C10K, print_upstream, 64, ""), offer);
	refuse_and_forget(repeat(MAIN C10K, print_upstream, 65, ""),
	    "t.conf:67: connect 'u64': one too many: there may be 64 connect sections");
	load_and_forget(repeat(MAIN C10K, print_module, 63, ""), NULL);
	refuse_and_forget(repeat(MAIN C10K, print_module, 64, ""),
	    "t.conf:66: module 'm63': one too many: there may be 64 module sections");
	load_and_forget(repeat(MAIN "module c10k {\n", print_key, 512, "}"), NULL);
	refuse_and_forget(repeat(MAIN "module c10k {\n", print_key, 513, "}"),
	    "t.conf:515: more than 512 options");
	refuse_and_forget(
	    repeat(MAIN "module a { x = 1 } module c10k {\n", print_key, 512, "}"),
	    "t.conf:514: more than 512 options");
	load_and_forget(
	    repeat(C10K "listen a { modules = c10k address = {", print_address, 64, "} }"),
	    offer);
	refuse_and_forget(
	    repeat(C10K "listen a { modules = c10k address = {", print_address, 65, "} }"),
	    "t.conf:2: listen 'a': address: a list of 65 is refused; give at most 64");
}
END_TEST

/* What the outline lets pass libconfuse has no word against; should it have one, it is ours. */
START_TEST(error_of_libconfuse_is_kept)
{
	static const struct bad errors[] = {
		{ "\n\nbad = 1", "t.conf:3: no such option 'bad'" },
		{ "listen a {\nbad = 1", "t.conf:2: listen 'a': no such option 'bad'" },
	};
	char empty[] = "";
	struct outline *outline;
	struct reason why;

	ck_assert_int_eq(outline_read("t.conf", empty, &outline, &why), STATUS_OK);
	for (int i = 0; i < N_OF(errors); i++) {
		struct cfg_t *conf;

		ck_assert_int_eq(
		    conf_parse(outline, errors[i].conf, &conf, &why), STATUS_INVALID);
		ck_assert_str_eq(why.text, errors[i].reason);
		ck_assert_ptr_null(conf);
	}
	outline_destroy(&outline);
}
END_TEST

TCase *settings_bad_case(void)
{
	TCase *bad = tcase_create("bad");

	tcase_add_loop_test(bad, syntax_is_refused, 0, N_OF(bad_syntax));
	tcase_add_loop_test(bad, option_is_refused, 0, N_OF(bad_options));
	tcase_add_loop_test(bad, option_of_a_listener_is_refused, 0, N_OF(bad_listeners));
	tcase_add_loop_test(bad, option_of_an_upstream_is_refused, 0, N_OF(bad_upstreams));
	tcase_add_loop_test(bad, options_that_contradict_are_refused, 0, N_OF(bad_together));
	tcase_add_loop_test(bad, option_of_a_module_is_refused, 0, N_OF(bad_modules));
	tcase_add_test(bad, good_conf_loads_after_a_bad_one);
	tcase_add_test(bad, counts_are_limited);
	tcase_add_test(bad, error_of_libconfuse_is_kept);
	return bad;
}
