/* SPDX-License-Identifier: Apache-2.0 */
#include "platform.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "text.h"

#define SHOWN_BYTES 80 /* of a text, in an error */

/* Operating systems and architectures as Go names them, which is what an image index holds. */
static const char *const known_os[] = {
	"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "linux", "netbsd", "openbsd", "plan9",
	"solaris", "wasip1", "windows", "zos",
};
static const char *const known_architecture[] = {
	"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64",
	"s390x", "wasm",
};

/* Other names of an architecture, which containerd reads in an index too. */
static const struct {
	const char *alias, *architecture, *variant; /* variant NULL: as written */
} aliases[] = {
	{"i386", "386", ""},
	{"x86_64", "amd64", NULL},
	{"x86-64", "amd64", NULL},
	{"aarch64", "arm64", NULL},
	{"armhf", "arm", "v7"},
	{"armel", "arm", "v6"},
};

/* Ways to write a variant; "" alone is the one that stands for a missing one. */
static const struct {
	const char *architecture, *written, *variant;
} variants[] = {
	{"amd64", "v1", ""},
	{"arm64", "8", ""},
	{"arm64", "v8", ""},
	{"arm64", "v8.0", ""},
	{"arm64", "9", "v9"},
	{"arm64", "9.0", "v9"},
	{"arm64", "v9.0", "v9"},
	{"arm", "", "v7"},
	{"arm", "5", "v5"},
	{"arm", "6", "v6"},
	{"arm", "7", "v7"},
	{"arm", "8", "v8"},
};

/* Names that people and dpkg use for a node, and that no runtime reads in an index. */
static const struct {
	const char *alias, *architecture;
} node_aliases[] = {
	{"ppc64el", "ppc64le"},
	{"loongarch64", "loong64"},
	{"i486", "386"},
	{"i586", "386"},
	{"i686", "386"},
};

static void set_text(char *field, const char *text)
{
	memmove(field, text, strlen(text) + 1);
}

/* Copies in lower case; false where it does not fit. */
static bool set_lower(char *field, size_t size, const char *text, size_t len)
{
	if (len >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		field[i] = ic_to_lower(text[i]);
	field[len] = '\0';
	return true;
}

static bool set_field(char *field, size_t size, const char *text)
{
	return set_lower(field, size, text ? text : "", text ? strlen(text) : 0);
}

static void normalise(struct ic_platform *p)
{
	if (strcmp(p->os, "") == 0)
		set_text(p->os, "linux");
	else if (strcmp(p->os, "macos") == 0)
		set_text(p->os, "darwin");
	for (size_t i = 0; i < IC_COUNT(aliases); i++) {
		if (strcmp(p->architecture, aliases[i].alias) != 0)
			continue;
		set_text(p->architecture, aliases[i].architecture);
		if (aliases[i].variant)
			set_text(p->variant, aliases[i].variant);
		break;
	}
	for (size_t i = 0; i < IC_COUNT(variants); i++) {
		if (strcmp(p->architecture, variants[i].architecture) != 0 || strcmp(p->variant, variants[i].written) != 0)
			continue;
		set_text(p->variant, variants[i].variant);
		break;
	}
}

void ic_platform_from_fields(const char *os, const char *architecture, const char *variant, struct ic_platform *out)
{
	if (!set_field(out->os, sizeof(out->os), os) ||
	    !set_field(out->architecture, sizeof(out->architecture), architecture) ||
	    !set_field(out->variant, sizeof(out->variant), variant))
		*out = (struct ic_platform){"unknown", "unknown", ""};
	normalise(out);
}

bool ic_platform_from_text(const char *os, const char *architecture, const char *variant, struct ic_platform *out)
{
	const struct {
		const char *text;
		char *field;
		size_t size;
	} fields[] = {
		{os, out->os, sizeof(out->os)},
		{architecture, out->architecture, sizeof(out->architecture)},
		{variant, out->variant, sizeof(out->variant)},
	};

	*out = (struct ic_platform){"", "", ""};
	for (size_t i = 0; i < IC_COUNT(fields); i++) {
		if (fields[i].text && strlen(fields[i].text) >= fields[i].size)
			return false;
		set_text(fields[i].field, fields[i].text ? fields[i].text : "");
	}
	return true;
}

static bool is_listed(const char *const *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

/* "architecture[/variant]" as a person writes it; false where that is none. */
static bool set_node(struct ic_platform *p, const char *text)
{
	size_t len = strcspn(text, "/");
	const char *variant = text[len] ? text + len + 1 : text + len;

	if ((text[len] && !*variant) || !set_lower(p->architecture, sizeof(p->architecture), text, len) ||
	    !set_field(p->variant, sizeof(p->variant), variant))
		return false;
	for (size_t i = 0; i < IC_COUNT(node_aliases); i++)
		if (strcmp(p->architecture, node_aliases[i].alias) == 0)
			set_text(p->architecture, node_aliases[i].architecture);
	for (const char *c = p->variant; *c; c++)
		if (!ic_is_alnum(*c) && *c != '.')
			return false;
	normalise(p);
	return is_listed(known_architecture, IC_COUNT(known_architecture), p->architecture);
}

/* Takes "os/" off the front of text; what is no operating system there is left, and the system is Linux. */
static const char *set_os(struct ic_platform *p, const char *text)
{
	size_t len = strcspn(text, "/");

	if (len && text[len] && set_lower(p->os, sizeof(p->os), text, len)) {
		normalise(p);
		if (is_listed(known_os, IC_COUNT(known_os), p->os))
			return text + len + 1;
	}
	set_text(p->os, "linux");
	return text;
}

int ic_platform_parse(const char *text, struct ic_platform *out, struct imgcheck_error **err)
{
	struct ic_platform p = {"", "", ""};

	*out = p;
	if (!set_node(&p, set_os(&p, text)))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG,
		                    "cannot use '%.*s' as a platform: write os/architecture[/variant], for example linux/amd64",
		                    SHOWN_BYTES, text);
	*out = p;
	return 0;
}

/* The architecture that this library was built for is that of the node's runtime; only 32-bit ARM varies. */
#if defined(__x86_64__)
#define HOST_ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define HOST_ARCHITECTURE "arm64"
#elif defined(__arm__)
#define HOST_ARCHITECTURE "arm"
#elif defined(__i386__)
#define HOST_ARCHITECTURE "386"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define HOST_ARCHITECTURE "ppc64le"
#elif defined(__s390x__)
#define HOST_ARCHITECTURE "s390x"
#elif defined(__riscv) && __riscv_xlen == 64
#define HOST_ARCHITECTURE "riscv64"
#elif defined(__loongarch64)
#define HOST_ARCHITECTURE "loong64"
#else
#error "add this architecture here, by its name in Go"
#endif

/* The kernel of a 32-bit ARM machine says armv6l, armv7l, armv8l or aarch64. */
static const char *arm_variant(const char *machine)
{
	if (strncmp(machine, "aarch64", 7) == 0 || strncmp(machine, "armv8", 5) == 0)
		return "v8";
	if (strncmp(machine, "armv6", 5) == 0)
		return "v6";
	if (strncmp(machine, "armv5", 5) == 0)
		return "v5";
	return "v7";
}

void ic_platform_host(struct ic_platform *out)
{
	const char *variant = "";
	struct utsname name;

	if (strcmp(HOST_ARCHITECTURE, "arm") == 0)
		variant = arm_variant(uname(&name) == 0 ? name.machine : "");
	ic_platform_from_fields("linux", HOST_ARCHITECTURE, variant, out);
}

void ic_platform_text(const struct ic_platform *p, char out[IC_PLATFORM_TEXT_BYTES])
{
	(void)snprintf(out, IC_PLATFORM_TEXT_BYTES, "%s/%s%s%s", p->os, p->architecture, p->variant[0] ? "/" : "", p->variant);
}

/* ------------------------------------------------------------------ order */

/* "v8.2" is 8 and 2; false for any other form. */
static bool read_version(const char *variant, int *major, int *minor)
{
	if (variant[0] != 'v' || variant[1] < '1' || variant[1] > '9')
		return false;
	*major = variant[1] - '0';
	*minor = 0;
	if (variant[2] == '\0')
		return true;
	if (variant[2] != '.' || !ic_is_digit(variant[3]) || variant[4] != '\0')
		return false;
	*minor = variant[3] - '0';
	return true;
}

/* Behind everything of the same architecture and the same generation. */
#define OLDER_GENERATION 20
#define OTHER_ARCHITECTURE 100

static int rank_amd64(const struct ic_platform *want, const struct ic_platform *have)
{
	int wanted = 1, had = 1, minor;

	if (strcmp(have->architecture, "386") == 0)
		return have->variant[0] ? -1 : OTHER_ARCHITECTURE;
	if (want->variant[0] && (!read_version(want->variant, &wanted, &minor) || minor))
		return -1;
	if (have->variant[0] && (!read_version(have->variant, &had, &minor) || minor))
		return -1;
	return had <= wanted ? wanted - had : -1;
}

static int rank_arm(int wanted, const struct ic_platform *have)
{
	int had, minor;

	if (!read_version(have->variant, &had, &minor) || minor || had < 5 || had > wanted)
		return -1;
	return wanted - had;
}

/* v9.x goes down to v9, then v8.(x+5) to v8; v8.x goes down to v8; all then run 32-bit arm from v8 (v9) on. */
static int rank_arm64(const struct ic_platform *want, const struct ic_platform *have)
{
	int major, minor, had_major, had_minor;

	if (!read_version(want->variant[0] ? want->variant : "v8", &major, &minor) || major < 8)
		return -1;
	if (strcmp(have->architecture, "arm") == 0) {
		int rank = rank_arm(major == 9 && minor == 0 ? 9 : 8, have);

		return rank < 0 ? -1 : OTHER_ARCHITECTURE + rank;
	}
	if (!read_version(have->variant[0] ? have->variant : "v8", &had_major, &had_minor) || had_major > major)
		return -1;
	if (had_major == major)
		return had_minor <= minor ? minor - had_minor : -1;
	return had_major == 8 && had_minor <= minor + 5 ? OLDER_GENERATION + minor + 5 - had_minor : -1;
}

int ic_platform_rank(const struct ic_platform *want, const struct ic_platform *have)
{
	int major, minor;
	bool same = strcmp(want->architecture, have->architecture) == 0;

	if (strcmp(want->os, have->os) != 0)
		return -1;
	if (same && strcmp(want->variant, have->variant) == 0)
		return 0;
	if (strcmp(want->architecture, "amd64") == 0 && (same || strcmp(have->architecture, "386") == 0))
		return rank_amd64(want, have);
	if (strcmp(want->architecture, "arm64") == 0 && (same || strcmp(have->architecture, "arm") == 0))
		return rank_arm64(want, have);
	if (strcmp(want->architecture, "arm") == 0 && same)
		return read_version(want->variant, &major, &minor) && !minor ? rank_arm(major, have) : -1;
	return -1;
}

/* What a node with this variant takes, best first, before what has none: an arm node all lower ones. */
static int rank_variant(const struct ic_platform *want, const char *variant)
{
	bool arm = strcmp(want->architecture, "arm") == 0;
	const char *own = want->variant;
	int wanted, had, minor;

	if (strcmp(want->architecture, "arm64") == 0 && !own[0])
		own = "v8"; /* such a node says so itself */
	if (own[0] && strcmp(own, variant) == 0)
		return 0;
	if (!variant[0])
		return OTHER_ARCHITECTURE;
	if (!arm || !read_version(own, &wanted, &minor) || minor || !read_version(variant, &had, &minor) || minor)
		return -1;
	return wanted <= 8 && had >= 5 && had < wanted ? wanted - had : -1;
}

int ic_platform_rank_written(const struct ic_platform *want, const struct ic_platform *written)
{
	if (strcmp(want->os, written->os) != 0 || strcmp(want->architecture, written->architecture) != 0)
		return -1;
	return rank_variant(want, written->variant);
}
