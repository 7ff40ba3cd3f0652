/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMGCHECK_H
#define IMGCHECK_H

/*
 * libimgcheck: can every image that these manifests need really be pulled?
 *
 * Three objects go in, one comes out:
 *
 *   imgcheck_images   what is needed: references with the places that name them
 *   imgcheck_config   where a node would pull them from, and by which policy to judge
 *   imgcheck_run      one check of those images, under one deadline
 *   imgcheck_report   a verdict for each image, and the decision
 *
 * Beside that, imgcheck_tag_move() sets a tag to what was judged, and imgcheck_yaml_read() reads a program's own
 * configuration.
 *
 * Conventions, for every declaration below that does not say otherwise:
 *
 * Results.    An int result is 0 or a negative enum imgcheck_err.  Output parameters are cleared on
 *             entry and filled only on success.  That an image is missing, unreachable or refused is
 *             a verdict in the report, never an error of a function; but for imgcheck_tag_move(), which
 *             writes to a registry and fails where that does not take what is written.
 * Errors.     `err` may be NULL.  Where it is not, *err must be NULL on entry; on failure it receives
 *             a new error that the caller frees with imgcheck_error_free().  NOMEM and ARGUMENT can come
 *             from any call that fails; a declaration names the others, without IMGCHECK_ERR_.
 * NULL.       A NULL object or argument that a call needs is ARGUMENT where it can fail; else nothing is
 *             done, and the result is NULL or 0.  An index past the end gives NULL.  Each *_free() takes NULL.
 * Ownership.  "new": the caller owns it and frees it as told.  "borrowed": dies with the object it
 *             was asked of.  "copied": the argument may be released as soon as the call returns.
 *             "taken": it is the library's from here on.
 * Text.       UTF-8, NUL-terminated.  Bytes that came from outside are escaped where a message holds them.
 * Threads.    An object belongs to one thread at a time; different objects are independent, except that a
 *             run, its config and its images go together.  imgcheck_run_cancel() alone is for any thread.
 * Process.    The library reads no environment and no home directory, starts no process and never
 *             prints, exits or aborts.
 * Growth.     An enumerator keeps its number, a structure its members; later versions add at the end.
 *
 * Since 0.1.  The pages of section 3 say more: libimgcheck(3) for limits, one page for each part below.
 * [dist] is the OCI Distribution Specification 1.1, [image] the OCI Image Specification 1.1.
 */

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMGCHECK_VERSION "0.1.0"

#if defined(__GNUC__)
#define IMGCHECK_MUST_CHECK __attribute__((warn_unused_result))
/* The library is built with everything else hidden; its symbol map then names what is public. */
#pragma GCC visibility push(default)
#else
#define IMGCHECK_MUST_CHECK
#endif

/* The version of the library in use, where IMGCHECK_VERSION is that of the header: static text, "0.1.0". */
const char *imgcheck_version(void);

/* ------------------------------------------------------------------ errors */

enum imgcheck_err {
	IMGCHECK_OK = 0,
	IMGCHECK_ERR_NOMEM = -1,       /* no memory */
	IMGCHECK_ERR_ARGUMENT = -2,    /* the caller's mistake: a NULL, an unknown enumerator, a wrong order of calls */
	IMGCHECK_ERR_CONFIG = -3,      /* a setting, a value or a configuration file that cannot be accepted */
	IMGCHECK_ERR_IO = -4,          /* a file or folder that cannot be read */
	IMGCHECK_ERR_SYNTAX = -5,      /* input that is not what it should be: YAML, JSON, a template, a reference */
	IMGCHECK_ERR_UNSUPPORTED = -6, /* a construct that is not evaluated here; never guessed */
	IMGCHECK_ERR_LIMIT = -7,       /* input beyond a documented limit */
	IMGCHECK_ERR_UNRESOLVED = -8,  /* only as a problem: an image field whose value is no reference */
	IMGCHECK_ERR_FINDING = -9,     /* only as a problem: worth telling, changes nothing */
	IMGCHECK_ERR_INTERNAL = -10,   /* a fault of this library or of one below it */
	IMGCHECK_ERR_REGISTRY = -11,   /* a registry did not do what it was to do: the message holds its answer */
	IMGCHECK_ERR_CONFLICT = -12    /* another writer moved the tag: nothing of theirs is overwritten */
};

/* Why a call failed, or a problem of a set of images.  It does not change. */
struct imgcheck_error;

/* The code of an error; IMGCHECK_OK for NULL. */
enum imgcheck_err imgcheck_error_code(const struct imgcheck_error *e);

/* One escaped line, lower case, "cannot ...": borrowed.  It does not repeat the place.  "" for NULL. */
const char *imgcheck_error_message(const struct imgcheck_error *e);

/*
 * The file or host that the error is about, or NULL: borrowed.  line and column count from 1, 0 where
 * unknown; either pointer may be NULL.
 */
const char *imgcheck_error_place(const struct imgcheck_error *e, unsigned *line, unsigned *column);

/* Releases an error that a call gave; never a borrowed one. */
void imgcheck_error_free(struct imgcheck_error *e);

/* ------------------------------------------------------------------ images: what is needed, and where it stands */

/* A set of references with the places that name them.  An image in it is borrowed until the set is changed. */
struct imgcheck_images;
struct imgcheck_image;

/* How surely a place means that the cluster pulls the image.  An image has the strongest class of its places. */
enum imgcheck_class {
	IMGCHECK_CLASS_REQUIRED,  /* an image field of a container, an image volume, a list of images */
	IMGCHECK_CLASS_MENTIONED, /* an argument, an environment or ConfigMap value */
	IMGCHECK_CLASS_HINT       /* an annotation, any other value with the exact form of a reference */
};

/* What is known of one place (origin) of an image. */
enum imgcheck_field {
	IMGCHECK_FIELD_FILE,         /* as it was given to the set */
	IMGCHECK_FIELD_LINE,         /* decimal, from 1; in JSON the line on which the document starts */
	IMGCHECK_FIELD_OBJECT,       /* "DaemonSet kube-system/name", or NULL outside a Kubernetes object */
	IMGCHECK_FIELD_PATH,         /* "spec.template.spec.containers[0].image" */
	IMGCHECK_FIELD_CLASS,        /* "required", "mentioned" or "hint" */
	IMGCHECK_FIELD_PULL_POLICY,  /* "Always", "IfNotPresent", "Never", or NULL where not stated */
	IMGCHECK_FIELD_PULL_SECRETS, /* names of imagePullSecrets, separated by blanks, or NULL */
	IMGCHECK_FIELD_NODE_ARCH,    /* nodeSelector kubernetes.io/arch, or NULL */
	IMGCHECK_FIELD_NAMESPACE     /* metadata.namespace, or NULL */
};

/* A part of a reference as runtimes understand it: "busybox" is docker.io, library/busybox, latest. */
enum imgcheck_part {
	IMGCHECK_PART_REGISTRY,   /* "docker.io", "registry.internal:5000" */
	IMGCHECK_PART_REPOSITORY, /* "library/busybox"; [dist] Pulling manifests, <name> */
	IMGCHECK_PART_TAG,        /* NULL beside a digest, where a tag means nothing */
	IMGCHECK_PART_DIGEST      /* "sha256:..."; [image] Descriptors, Digests */
};

/* *out is a new, empty set. */
int imgcheck_images_new(struct imgcheck_images **out) IMGCHECK_MUST_CHECK;

/* Releases a set.  No run may hold it any more. */
void imgcheck_images_free(struct imgcheck_images *s);

/*
 * Template values for what is added later: a JSON object (copied) that replaces earlier values.
 * Once there are values, files with template marks are rendered before they are read.
 * Errors: SYNTAX, LIMIT.
 */
int imgcheck_images_set_values(struct imgcheck_images *s, const char *json, size_t len,
                               struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * One template value, a text (copied), beside those already set; with value NULL the name is taken away.
 * Errors: SYNTAX for what is not UTF-8.
 */
int imgcheck_images_set_value(struct imgcheck_images *s, const char *name, const char *value,
                              struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Adds what a file, or a folder with all below it in sorted order, needs.  Of a folder these are the files that
 * end in .yaml, .yml or .json, also with a template's ending behind (.j2, .tmpl ...), and not hidden; links are
 * followed.  "LIST#KEY" names one line of a `key: ref ref ...` list.  What cannot be read or evaluated, and
 * where there is nothing to read (an empty file, a folder without a manifest), becomes a problem of the set
 * (imgcheck_images_problem), and what was read before it still counts; the call fails only for lack of memory
 * or beyond a limit of the whole set.  Errors: LIMIT.
 */
int imgcheck_images_add_path(struct imgcheck_images *s, const char *path, struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * The same for len bytes in memory, copied as far as they are needed; name (copied) stands for the file in
 * origins and problems.  data may be NULL where len is 0.  Errors: LIMIT.
 */
int imgcheck_images_add_data(struct imgcheck_images *s, const char *name, const void *data, size_t len,
                             struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Adds one reference (copied), as required.  One that does not parse is kept, and gets the verdict `invalid`.
 * Errors: LIMIT.
 */
int imgcheck_images_add_ref(struct imgcheck_images *s, const char *ref, struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Renders one template file with the values of the set, byte for byte as Jinja2 would.
 * *out is new (free()), NUL-terminated beyond *len; len may be NULL.  Errors: IO, SYNTAX, UNSUPPORTED, LIMIT.
 */
int imgcheck_images_render(struct imgcheck_images *s, const char *path, char **out, size_t *len,
                           struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Marks each image that `before` needs as much: if it cannot be pulled, nothing got worse (already-missing).
 * What `before` has as a hint only, ignores or never pulls, it does not need.  Nothing of `before` is kept.
 */
int imgcheck_images_mark_known(struct imgcheck_images *s, const struct imgcheck_images *before,
                               struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Says that an image of the set was found a moment ago, at this host with this digest (copied): a run does not ask
 * for it, and its verdict is `ok`.  All three texts are copied.  Nothing happens where the set has no such image.
 */
int imgcheck_images_mark_found(struct imgcheck_images *s, const char *ref, const char *host, const char *digest,
                               struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* Takes each image out of the set that `before`, another set, needs as much: what is left is what is new. */
int imgcheck_images_subtract(struct imgcheck_images *s, const struct imgcheck_images *before,
                             struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* How many images there are: unique by their text, and sorted by it. */
size_t imgcheck_images_count(const struct imgcheck_images *s);

/* The i-th image: borrowed until the set is changed or freed; NULL past the end. */
const struct imgcheck_image *imgcheck_images_get(const struct imgcheck_images *s, size_t i);

/* What could not be read, resolved or evaluated, in the order found: borrowed; NULL past the end. */
const struct imgcheck_error *imgcheck_images_problem(const struct imgcheck_images *s, size_t i);

/* The reference as written: borrowed. */
const char *imgcheck_image_ref(const struct imgcheck_image *m);

/* The strongest class of its places; HINT for NULL. */
enum imgcheck_class imgcheck_image_class(const struct imgcheck_image *m);

/* A part of the reference: borrowed; NULL where it has none, and always where the text is no reference. */
const char *imgcheck_image_part(const struct imgcheck_image *m, enum imgcheck_part p);

/* Where the image comes from when no `registry` value is set: borrowed, or NULL if that is not known. */
const char *imgcheck_image_source(const struct imgcheck_image *m);

/* A field of the i-th place that names the image: borrowed; NULL past the end or where not known. */
const char *imgcheck_image_origin(const struct imgcheck_image *m, size_t i, enum imgcheck_field f);

/* ------------------------------------------------------------------ target: an unpacked snap with its imgcheck.yaml */

/* What a snap needs under which configuration, by its description; see imgcheck.yaml(5). */
struct imgcheck_target;

/*
 * Reads and validates the description of a target: `file`, or <dir>/meta/imgcheck.yaml when NULL.
 * Anything unknown in it is an error, and so is a link there that leads out of dir.  Both names are copied, *out is new.
 * Errors: IO, SYNTAX, CONFIG, UNSUPPORTED, LIMIT.
 */
int imgcheck_target_open(const char *dir, const char *file, struct imgcheck_target **out,
                         struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* Releases a target. */
void imgcheck_target_free(struct imgcheck_target *t);

/* The i-th configuration key, or environment variable, that the description asks for: borrowed; NULL past the end. */
const char *imgcheck_target_config_key(const struct imgcheck_target *t, size_t i);
const char *imgcheck_target_env_name(const struct imgcheck_target *t, size_t i);

/*
 * The configuration, a JSON object (copied) as `snapctl get -d KEY...` prints it.  Values count as the
 * text that `snapctl get KEY` would print; absent, null and empty are undefined.  Replaces an earlier one.
 * Errors: SYNTAX, LIMIT.
 */
int imgcheck_target_set_config(struct imgcheck_target *t, const char *json, size_t len,
                               struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * One environment variable (copied); those not set are undefined, as is one with the value NULL or "".
 * Errors: SYNTAX for what is not UTF-8.
 */
int imgcheck_target_set_env(struct imgcheck_target *t, const char *name, const char *value,
                            struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* *out is the value that the template name has in this target, as text: new (free()), or NULL when undefined. */
int imgcheck_target_value(const struct imgcheck_target *t, const char *name, char **out,
                          struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Whether the unit is set up, by the description's `configured`; *out is true where there is none.
 * Errors: SYNTAX, UNSUPPORTED, LIMIT.
 */
int imgcheck_target_configured(const struct imgcheck_target *t, bool *out, struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Adds what the target needs under its configuration.  Template values of the set count before those of the
 * description.  It fails closed: a path or glob that matches nothing, a rule that cannot be evaluated, or no
 * image at all in a configured unit is a problem of the set.  Nothing of the target is kept.  Errors: LIMIT.
 */
int imgcheck_images_add_target(struct imgcheck_images *s, const struct imgcheck_target *t,
                               struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* ------------------------------------------------------------------ config: what a node would do, and how to judge */

/* How a report or an explanation is rendered. */
enum imgcheck_format {
	IMGCHECK_FORMAT_TEXT, /* for people: at most 60 lines and 8 KiB of ASCII, verdict and remedy last */
	IMGCHECK_FORMAT_JSON  /* everything; members may be added, never renamed */
};

/* Where a node pulls from, with which logins, proxies and trust, and by which policy to judge. */
struct imgcheck_config;

/* One table behind command-line flags, settings and pages; imgcheck_option_info() tells name and meaning. */
enum imgcheck_option {
	IMGCHECK_OPTION_REGISTRY,    /* host[:port][/prefix] */
	IMGCHECK_OPTION_REWRITE,     /* true: plain references are asked of the registry too */
	IMGCHECK_OPTION_REWRITE_MAP, /* list; FROM=TO, the first prefix that matches wins */
	IMGCHECK_OPTION_RUNTIME,     /* containerd, crio */
	IMGCHECK_OPTION_PLATFORM,    /* list; os/arch[/variant], default the host's */
	IMGCHECK_OPTION_DEPTH,       /* tag, platform, blobs (default), bytes */
	IMGCHECK_OPTION_DEADLINE,    /* seconds for the whole run, 1 to 3600, default 240 */
	IMGCHECK_OPTION_RESERVE,     /* of the requests that a host still allows (RateLimit-Remaining), how many are left to others */
	IMGCHECK_OPTION_PLAIN_HTTP,  /* list; host[:port] asked without TLS; without a port: port 80 alone */
	IMGCHECK_OPTION_SKIP_VERIFY, /* list; host[:port] whose certificate is not verified (insecure); without a port: 443 */
	IMGCHECK_OPTION_HTTP_PROXY,  /* URL of the proxy for http, "" for none */
	IMGCHECK_OPTION_HTTPS_PROXY, /* URL of the proxy for https, "" for none */
	IMGCHECK_OPTION_NO_PROXY,    /* hosts, suffixes and CIDR blocks, separated by commas */
	IMGCHECK_OPTION_REQUIRE_MIRROR, /* true: an image that only its upstream could serve is missing (air gap) */
	IMGCHECK_OPTION_IGNORE,      /* list; glob over the full reference */
	IMGCHECK_OPTION_ON_MISSING,  /* this and below: veto or warn */
	IMGCHECK_OPTION_ON_ALREADY_MISSING,
	IMGCHECK_OPTION_ON_ACCESS,
	IMGCHECK_OPTION_ON_UNDECIDED,
	IMGCHECK_OPTION_ON_HINT,
	IMGCHECK_OPTION_ON_UNRESOLVED,
	IMGCHECK_OPTION_ON_UNREADABLE,
	IMGCHECK_OPTION_ON_INTERNAL_ERROR,
	IMGCHECK_OPTION_ON_UNPROVEN, /* what on-access and on-undecided can at most do while no `ok` ever came from the host */
	IMGCHECK_OPTION_PROVEN,      /* list; host[:port] that gave an `ok` before, as imgcheck_report_text() names it */
	IMGCHECK_OPTION_SUBJECT,     /* text reports: whose images these are, "cdk-addons revision 1250 (1.28.3)" */
	IMGCHECK_OPTION_CONSEQUENCE, /* text reports: what a veto means, "the refresh is stopped, nothing was changed" */
	IMGCHECK_OPTION_REMEDY       /* list; text reports: further lines after a veto */
};

/* Files that a config can read. */
enum imgcheck_file {
	IMGCHECK_FILE_AUTH, /* docker config.json or containers auth.json */
	IMGCHECK_FILE_CA,   /* PEM certificates, trusted besides the system's */
	/* Where containerd asks instead of a registry.  Of several files the first that names a registry counts. */
	IMGCHECK_FILE_HOSTS_DIR,        /* a folder with containerd's hosts.toml files, /etc/containerd/certs.d; not from memory */
	IMGCHECK_FILE_CONTAINERD,       /* containerd's config.toml: the registry tables of its CRI plugin */
	IMGCHECK_FILE_REGISTRIES_YAML,  /* registries.yaml of k3s and RKE2 */
	IMGCHECK_FILE_CUSTOM_REGISTRIES, /* custom_registries of the containerd charm, JSON */
	/* CRI-O's, which reads none of these, as containerd reads none of its: what the runtime does not read is told in the report. */
	IMGCHECK_FILE_REGISTRIES_CONF,  /* registries.conf of CRI-O and podman, with <path>.d */
	/*
	 * A folder with one for each HOST[:PORT] that has certificates: *.crt, and *.cert with *.key; /etc/containers/certs.d,
	 * /etc/docker/certs.d.  Of several the first that has the host counts; not from memory.
	 */
	IMGCHECK_FILE_CERTS_DIR
};

/*
 * Describes an option: its name ("plain-http"), its argument for a usage text ("HOST[:PORT]"; NULL for a
 * switch, whose values are true and false) and one line of help; any pointer may be NULL.  All are static.
 * False past the last option.
 */
bool imgcheck_option_info(enum imgcheck_option o, const char **name, const char **argument, const char **help);

/* *out is a new config with the defaults. */
int imgcheck_config_new(struct imgcheck_config **out) IMGCHECK_MUST_CHECK;

/* Releases a config and overwrites its secrets.  No run may hold it any more. */
void imgcheck_config_free(struct imgcheck_config *c);

/*
 * Sets an option from its text, validated and copied; options that are lists add.  Errors: CONFIG with
 * the reason, LIMIT for a list that grows too long.  This and the setters below: ARGUMENT once a run holds
 * the config, which is frozen from then on.
 */
int imgcheck_config_set(struct imgcheck_config *c, enum imgcheck_option o, const char *value,
                        struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * Reads a file into the config; of each kind there may be several.  Errors: IO, SYNTAX, CONFIG, LIMIT, naming
 * file and, where known, line; never a byte of a secret.
 */
int imgcheck_config_read(struct imgcheck_config *c, enum imgcheck_file kind, const char *path,
                         struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * The same for len bytes in memory (copied); name (copied) stands for the file in errors and as the source of
 * credentials in reports.  data may be NULL where len is 0.  Errors: SYNTAX, CONFIG, LIMIT.
 */
int imgcheck_config_read_data(struct imgcheck_config *c, enum imgcheck_file kind, const char *name, const void *data,
                              size_t len, struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * A login for one host (host[:port]; without a port that of the scheme), or with host NULL for the configured
 * registry's: copied, overwritten on free, and sent to no other host.  It goes before what files say, and
 * replaces an earlier one for the same host.  Errors: CONFIG, LIMIT.
 */
int imgcheck_config_set_login(struct imgcheck_config *c, const char *host, const char *user, const char *secret,
                              struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * What a credential helper answered.  The library hands it over with NULL in it; all text that is put there comes
 * from malloc() and is taken by the library, which overwrites it.
 */
struct imgcheck_login {
	char *user;    /* NULL: the helper knows no login; "<token>": secret is an identity token */
	char *secret;
	char *problem; /* why it could not be asked, without a secret; counts where the function fails */
};

/*
 * Asks docker-credential-<helper> for its login for a server, "registry.internal:5000" or
 * "https://index.docker.io/v1/".  0, or negative where it could not be asked: images that depend on it are then
 * not asked for without.  It is called while a run is made, once for each helper and server.
 */
typedef int (*imgcheck_login_fn)(void *arg, const char *helper, const char *server, struct imgcheck_login *out);

/*
 * Sets the function (NULL: none), to be done before the files are read.  arg is handed to it, and must live as
 * long as the config.  Without a function the helpers that auth files name are not run, and a report tells so.
 */
void imgcheck_config_set_login_fn(struct imgcheck_config *c, imgcheck_login_fn fn, void *arg);

enum imgcheck_event_kind {
	IMGCHECK_EVENT_REQUEST, /* an answer came: text is "HEAD https://host/v2/... 200", host is set */
	IMGCHECK_EVENT_DONE     /* an image is decided: text is its reference */
};

/* What a run tells while it goes on.  All text is borrowed for the call; secrets are never in it. */
struct imgcheck_event {
	enum imgcheck_event_kind kind;
	const char *host;   /* NULL where the event is not about one */
	const char *text;
	size_t done, total; /* images decided, images in all */
	long retry_after;   /* of an answer: seconds for which the host wants no requests (429 and 503), 0 where it does not say */
};

/* Is called by imgcheck_run_new(), imgcheck_run_step() and imgcheck_check(), in their thread.  It must not free the run. */
typedef void (*imgcheck_event_fn)(void *arg, const struct imgcheck_event *event);

/* Sets the function (NULL: none).  arg is handed to it, and must live as long as the runs of the config. */
void imgcheck_config_set_event_fn(struct imgcheck_config *c, imgcheck_event_fn fn, void *arg);

/*
 * From here on each registry is asked itself, and no mirror in its place that can be behind it: for a program that moves
 * tags (imgcheck_tag_move), and decides by where they are.  Where nothing but mirrors is left to be asked, they are asked.
 */
void imgcheck_config_set_no_mirrors(struct imgcheck_config *c);

/*
 * Who would be asked for a reference, in order, with the source of the credentials, TLS and proxy, as text or JSON; nobody is
 * asked, but for credential helpers (imgcheck_config_set_login_fn).  No secret is in it.  *out is new (free()),
 * NUL-terminated beyond *len.  Errors: SYNTAX for what is no reference, CONFIG.
 */
int imgcheck_config_explain(const struct imgcheck_config *c, const char *ref, enum imgcheck_format f, char **out, size_t *len,
                            struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* ------------------------------------------------------------------ run: one check, one deadline */

struct imgcheck_run;
struct imgcheck_report;

/* Checks all images, blocking until done or out of time.  *out is new.  Errors: INTERNAL. */
int imgcheck_check(struct imgcheck_config *c, struct imgcheck_images *s, struct imgcheck_report **out,
                   struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/*
 * The same in steps, for a program with a loop of its own.  The run is new and borrows config and
 * images until it is freed.  Until then what would change the images is ARGUMENT; the config is frozen for good.
 * The deadline starts now.  Errors: INTERNAL.
 */
int imgcheck_run_new(struct imgcheck_config *c, struct imgcheck_images *s, struct imgcheck_run **out,
                     struct imgcheck_error **err) IMGCHECK_MUST_CHECK;
/* Ends what is under way, and releases the run. */
void imgcheck_run_free(struct imgcheck_run *r);

/*
 * One descriptor, readable when a run that is not done has work for imgcheck_run_step(), be it that its time is
 * over: borrowed, to be waited for and for nothing else.  It is the same as long as the run lives; negative for NULL.
 */
int imgcheck_run_fd(const struct imgcheck_run *r);

/*
 * Waits up to timeout_ms milliseconds (0: not at all, -1: until something happens) and goes on.  A signal ends
 * the waiting.  1: more to do; 0: done, to be heeded before the descriptor is waited for.  Errors: INTERNAL.
 */
int imgcheck_run_step(struct imgcheck_run *r, int timeout_ms, struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* Ends the run at its next step, which it wakes; callable from any thread and signal handler while the run is not freed. */
void imgcheck_run_cancel(struct imgcheck_run *r);

/* *out is the report so far, new, at any time; images not decided yet say `deadline`. */
int imgcheck_run_take_report(struct imgcheck_run *r, struct imgcheck_report **out,
                             struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* ------------------------------------------------------------------ report: what a node would meet, and the decision */

/* What the node's runtime would meet for an image; [dist] Pull, and its error codes. */
enum imgcheck_verdict {
	IMGCHECK_VERDICT_OK,
	IMGCHECK_VERDICT_NOT_FOUND,      /* 404 of the deciding host, after its challenge was answered */
	IMGCHECK_VERDICT_NO_PLATFORM,    /* exists, but not for the wanted platform */
	IMGCHECK_VERDICT_INCOMPLETE,     /* the manifest is there, its config or a layer is not */
	IMGCHECK_VERDICT_CORRUPT,        /* wrong digest, size, media type or body; unsupported format */
	IMGCHECK_VERDICT_INVALID,        /* not a reference */
	IMGCHECK_VERDICT_UNAUTHORIZED,   /* 401: missing or no access */
	IMGCHECK_VERDICT_DENIED,         /* 403 or 412: missing or no access, or a policy */
	IMGCHECK_VERDICT_UNREACHABLE,    /* no name, no connection, reset */
	IMGCHECK_VERDICT_TLS,            /* no trust, no handshake */
	IMGCHECK_VERDICT_RATE_LIMITED,   /* 429 to the end */
	IMGCHECK_VERDICT_SERVER_ERROR,   /* 5xx or another status that decides nothing */
	IMGCHECK_VERDICT_NOT_A_REGISTRY, /* answers, but not as a registry does */
	IMGCHECK_VERDICT_DEADLINE,       /* not decided in time */
	IMGCHECK_VERDICT_SKIPPED         /* not asked: pull policy Never, ignored */
};

/* The class of a verdict or of a problem, by which the policy decides. */
enum imgcheck_outcome {
	IMGCHECK_OUTCOME_OK,
	IMGCHECK_OUTCOME_SKIPPED,
	IMGCHECK_OUTCOME_MISSING,
	IMGCHECK_OUTCOME_ALREADY_MISSING, /* missing, and known from before (imgcheck_images_mark_known) */
	IMGCHECK_OUTCOME_ACCESS,
	IMGCHECK_OUTCOME_UNDECIDED,
	IMGCHECK_OUTCOME_HINT, /* a hint that is not ok */
	IMGCHECK_OUTCOME_UNRESOLVED,
	IMGCHECK_OUTCOME_UNREADABLE,
	IMGCHECK_OUTCOME_INTERNAL
};

/* What the policy does about a result, and about all of them together: the strongest. */
enum imgcheck_decision { IMGCHECK_DECISION_ALLOW, IMGCHECK_DECISION_WARN, IMGCHECK_DECISION_VETO };

/* Texts of one result. */
enum imgcheck_text {
	IMGCHECK_TEXT_REFERENCE,   /* as asked */
	IMGCHECK_TEXT_HOST,        /* host[:port] that decided, or NULL */
	IMGCHECK_TEXT_DIGEST,      /* digest that the reference resolved to, or NULL; [image] Descriptors, Digests */
	IMGCHECK_TEXT_PLATFORM,    /* the platform that decided */
	IMGCHECK_TEXT_REASON,      /* one line */
	IMGCHECK_TEXT_CREDENTIALS, /* "none", "none (why)", or where they came from: never the secret */
	IMGCHECK_TEXT_SOURCE       /* where a missing image can be copied from, or NULL */
};

/* Releases a report.  It stands alone: it outlives run, config and images. */
void imgcheck_report_free(struct imgcheck_report *p);

/* The policy's decision over all results and problems; VETO for NULL. */
enum imgcheck_decision imgcheck_report_decision(const struct imgcheck_report *p);

/*
 * Results: how many, and of the i-th, which belongs to the i-th image, its verdict, the outcome by which the policy
 * decides, and what that does.  Past the end: not decided (DEADLINE, UNDECIDED, VETO).
 */
size_t imgcheck_report_count(const struct imgcheck_report *p);
enum imgcheck_verdict imgcheck_report_verdict(const struct imgcheck_report *p, size_t i);
enum imgcheck_outcome imgcheck_report_outcome(const struct imgcheck_report *p, size_t i);
enum imgcheck_decision imgcheck_report_effect(const struct imgcheck_report *p, size_t i);

/* A text of the i-th result: borrowed, or NULL where there is none. */
const char *imgcheck_report_text(const struct imgcheck_report *p, size_t i, enum imgcheck_text t);

/* How many results and problems have this outcome and count as a veto. */
size_t imgcheck_report_vetoes(const struct imgcheck_report *p, enum imgcheck_outcome o);

/* Names, as reports have them: static, "not-found", "missing", "veto"; "unknown" for what is no enumerator. */
const char *imgcheck_verdict_name(enum imgcheck_verdict v);
const char *imgcheck_outcome_name(enum imgcheck_outcome o);
const char *imgcheck_decision_name(enum imgcheck_decision d);

/* Renders a report.  *out is new (free()), NUL-terminated beyond *len; len may be NULL.  Errors: LIMIT. */
int imgcheck_report_render(const struct imgcheck_report *p, enum imgcheck_format f, char **out, size_t *len,
                           struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* ------------------------------------------------------------------ YAML: a program's own configuration */

/*
 * Reads a file that holds one YAML document, as JSON in which each value keeps its line, so that a program can say
 * where a mistake is: {"line": 1, "text": "..."} for a scalar (null for a null), {"line": 1, "items": [VALUE, ...]}
 * for a sequence, {"line": 1, "members": [{"key": "...", "line": 1, "value": VALUE}, ...]} for a mapping.  *json is
 * new (free()).  Errors: IO, SYNTAX, CONFIG for a key that is written twice, LIMIT.
 */
int imgcheck_yaml_read(const char *path, char **json, struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

/* ------------------------------------------------------------------ tag: moved to a digest that was judged */

/*
 * Points a tag at a digest of the same repository: its manifest or index is fetched by that digest, verified, and
 * written under the tag byte for byte and with the same media type, so that an index moves whole.  ref names the tag,
 * expected the digest that it is at now, NULL for a tag that is not there yet.  Only the registry that the reference
 * names is asked and written to, no mirror; with the option `deadline` for all of it.
 *
 * 0: the tag is at the digest, as read back afterwards; where it was there before, nothing is written.  CONFLICT: it is
 * elsewhere than expected and nothing was written, or was moved on by another writer when it was read back.  REGISTRY: the
 * registry refused, failed, answered with wrong bytes or not at all; the tag is where it was, but where the message says
 * that this is not known.  Others: CONFIG, SYNTAX, INTERNAL.  [dist] "Pushing Manifests".
 *
 * What is promised: the tag is never set to anything but the digest, and only right after it was seen where it was
 * expected.  Registries have no compare-and-swap: what another writer sets between that look and the write, the time of
 * one request, is overwritten unseen.
 */
int imgcheck_tag_move(struct imgcheck_config *c, const char *ref, const char *digest, const char *expected,
                      struct imgcheck_error **err) IMGCHECK_MUST_CHECK;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
