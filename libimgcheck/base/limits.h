/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_LIMITS_H
#define IC_BASE_LIMITS_H

/*
 * Every ceiling of the library, each with its reason.  All input comes from outside and is hostile:
 * beyond a ceiling is an error that names the place, never a crash, a hang or a silent cut.
 */

/* Manifests */
#define IC_MAX_FILE_BYTES ((size_t)256 << 20)   /* one manifest file; real ones stay under 5 MiB, lists of lists under 50 */
#define IC_MAX_SCALAR_BYTES ((size_t)8 << 20)   /* one YAML scalar; an etcd object holds at most 1.5 MiB */
#define IC_MAX_DOC_BYTES ((size_t)64 << 20)     /* the tree of one document in memory */
#define IC_MAX_DEPTH 1024                       /* nesting: 1,000 levels around a pod; libyaml is quadratic in flow depth */
#define IC_MAX_ALIAS_NODES ((size_t)1 << 20)    /* nodes, 64 bytes of text each, through aliases in one document */
#define IC_MAX_FILE_ALIAS_NODES ((size_t)1 << 22) /* the same in all of a file's, and in those inside of values: a second */
#define IC_MAX_ANCHORS ((size_t)1 << 16)        /* anchors in one document */
#define IC_MAX_NOTES ((size_t)64)               /* findings kept of one document, such as duplicate keys */
#define IC_MAX_DOCUMENTS ((size_t)1 << 20)      /* documents in one file */
#define IC_MAX_FILES ((size_t)1 << 16)          /* files below one folder */
#define IC_MAX_IMAGES ((size_t)1 << 16)         /* different images in one set */
#define IC_MAX_ORIGINS ((size_t)1 << 20)        /* places in one set */
#define IC_MAX_PROBLEMS ((size_t)1 << 14)       /* problems kept in one set */
#define IC_MAX_PATH_BYTES ((size_t)4096)        /* a field path or file name in an origin */

/* Templates */
#define IC_MAX_TEMPLATE_BYTES ((size_t)16 << 20) /* template text, and what it renders to */
#define IC_MAX_TEMPLATE_STEPS ((size_t)1 << 20)  /* parts evaluated in one rendering (loops): about a second */
#define IC_MAX_TEMPLATE_PARTS ((size_t)1 << 18)  /* parts of the parsed template; large ones have some thousand, 100 bytes each */
#define IC_MAX_TEMPLATE_WORK ((size_t)64 << 20)  /* bytes of text and list that the operations of one rendering handle */
#define IC_MAX_EXPR_DEPTH 200                    /* nesting of expressions, blocks and values made by them */
#define IC_MAX_VALUES_BYTES ((size_t)4 << 20)    /* JSON of template values or snap configuration */

/* JSON: jansson needs up to 80 times the text, so structure is counted before it parses */
#define IC_MAX_JSON_TOKENS ((size_t)200000)      /* braces, brackets, commas, colons */

/* References (distribution/reference) */
#define IC_MAX_REF_BYTES ((size_t)1024)          /* host, 255 bytes of path, tag, digest */
#define IC_MAX_REPOSITORY_BYTES ((size_t)255)

/* Configuration */
#define IC_MAX_CONFIG_BYTES ((size_t)4 << 20)    /* an auth file, a CA bundle, hosts.toml ... */
#define IC_MAX_OPTION_BYTES ((size_t)64 << 10)   /* the value of one option; lists of proxy exceptions grow to some KiB */
#define IC_MAX_TRUST_BYTES ((size_t)16 << 20)    /* all trusted certificates together; a system's are about 220 KiB */
#define IC_MAX_OWN_TRUST_BYTES ((size_t)64 << 20) /* in a run, where hosts add their own to these: 290 different ones */
#define IC_MAX_TOML_KEYS ((size_t)16384)        /* parts of keys in one TOML file: each is looked up among all of its table */
#define IC_MAX_TOML_DEPTH 128                   /* tables and arrays in one another; containerd's own go six deep */
#define IC_MAX_IMPORTS ((size_t)64)              /* files of one containerd configuration; a vendor adds one or two */
#define IC_MAX_LIST_ITEMS ((size_t)4096)         /* values of one list option, entries of one auth file */

#define IC_MAX_SETTINGS ((size_t)1 << 16)        /* values in one YAML file of a program's own */
#define IC_MAX_SETTING_DEPTH 100                 /* of them in one another */

/* Registry answers; containerd takes manifests up to 4*1048*1048 bytes */
#define IC_MAX_MANIFEST_BYTES ((size_t)4393216)
#define IC_MAX_CONFIG_BLOB_BYTES ((size_t)4 << 20)
#define IC_MAX_TOKEN_BYTES ((size_t)1 << 20)     /* a token answer */
#define IC_MAX_ERROR_BODY_BYTES ((size_t)64 << 10) /* as much of an error body as is read for the reason */
#define IC_MAX_HEADER_BYTES ((size_t)64 << 10)   /* all header fields of one answer */
#define IC_MAX_BODIES_BYTES ((size_t)24 << 20)   /* bodies in memory at once in one run */
#define IC_MAX_HEADER_FIELDS ((size_t)512)       /* of one answer; real ones have about 30 */
#define IC_MAX_DETAIL_BYTES ((size_t)300)        /* what a failed request says about itself */
#define IC_MAX_LAYERS ((size_t)1 << 14)          /* layers of one image, entries of one index */
#define IC_MAX_PIECES ((size_t)1 << 19)          /* manifests, configs and layers asked for in one run */
#define IC_MAX_INDEX_DEPTH 4                     /* indexes inside indexes */
#define IC_MAX_URL_BYTES ((size_t)8192)         /* a realm or a Location; presigned ones reach 2 KiB */
#define IC_MAX_REASON_BYTES ((size_t)1500)      /* the reason of a verdict: the request, the registry's words, earlier endpoints */
#define IC_MAX_REDIRECTS 9                       /* Go gives up where ten requests have been made */
#define IC_MAX_ATTEMPTS 5                        /* requests for one answer, retries and challenges together */
#define IC_MAX_CROWDED 12                        /* further ones, where so many of ours at once were too many */

/* Reports */
#define IC_MAX_REPORT_BYTES ((size_t)512 << 20)  /* one as JSON: IC_MAX_ORIGINS places at 300 bytes each, and more */
#define IC_MAX_REPORT_LINES 60                   /* one as text: snapd keeps the last 100 lines ... */
#define IC_MAX_REPORT_TEXT_BYTES ((size_t)8192)  /* ... and 10 KiB of what a hook prints */

/* Requests at once, as servers take them without complaint. */
#define IC_SURE_STREAMS ((size_t)100)            /* one host, on HTTP/2: what any server admits */
#define IC_MAX_STREAMS ((size_t)200)             /* the same, where the server admits more (nginx 128, Go 250) */
#define IC_MAX_CONNECTIONS ((size_t)16)          /* one host, on HTTP/1.1 */
#define IC_MAX_CUTS ((size_t)2)                  /* one host, on HTTP/1.1, where each ends its connection */
#define IC_MAX_BEGUN ((size_t)2048)              /* images begun and not decided; each takes some KiB */
#define IC_MAX_BEGUN_IN_LANE ((size_t)512)       /* of them of one registry: enough to keep 200 requests under way at any depth */
#define IC_MAX_EXCHANGES ((size_t)1024)          /* questions under way; each holds its request, a token of some KiB */
#define IC_MAX_RUNNING ((size_t)256)             /* all hosts; a process has 1,024 descriptors by default, and one
                                                    that waits for a name server takes three */
#define IC_MAX_IDLE_CONNECTIONS ((size_t)256)    /* kept for later requests */

/*
 * Time.  Both limits are shorter in a run with little time: a third of what remains, so that a host which
 * hangs leaves time for the next one.  The slowest answer that goes through is the share of one among 200
 * streams on a line of 100 kbit/s.
 */
#define IC_CONNECT_SECONDS 30                    /* name, connection and handshake; as containerd's dialler */
#define IC_SLOW_SECONDS 30                       /* without, or with hardly any, bytes; as containerd waits for headers */
#define IC_SLOW_BYTES 64                         /* a second; below is "hardly any" */

#endif
