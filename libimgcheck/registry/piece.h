/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_PIECE_H
#define IC_REGISTRY_PIECE_H

/*
 * What an image is made of, piece by piece: its tag, manifests, configs and layers.  Each piece is asked for once
 * in a run, however many images share it, of the endpoints in the order of the runtime; what it names becomes
 * further pieces.  A piece is decided when it and all below it are: by its own failure, or the worst below it.
 *
 * piece.c holds what all kinds share, piece_manifest.c and piece_blob.c what each kind asks and accepts.
 */

#include "registry/content.h"
#include "registry/exchange.h"
#include "source/config.h"

enum ic_piece_kind {
	IC_PIECE_TAG,      /* HEAD: does the reference resolve, and to what */
	IC_PIECE_MANIFEST, /* GET by digest: a manifest or an index */
	IC_PIECE_CONFIG,   /* GET: for which platform is it, how many layers */
	IC_PIECE_LAYER     /* HEAD, or a first byte */
};

/* The endpoints of one repository and the pieces that they have, shared by its images. */
struct ic_source {
	char *key;
	struct ic_endpoints endpoints;
	void *pieces;               /* tree of struct ic_piece by key */
	size_t undecided;           /* images; pieces outlive none of them */
	size_t latest;              /* the image that was begun last */
	bool listed;                /* among those that may be forgotten */
	struct ic_source *next;
};

/* Whose platform the config of a manifest is held against, beside the number of a wanted platform. */
#define IC_JUDGE_NONE (-1) /* the index has told it */
#define IC_JUDGE_ALL (-2)  /* every wanted platform's: there is no index */

#define IC_LAYERS_ANY SIZE_MAX

struct ic_finding {
	enum imgcheck_verdict verdict;
	char *reason;                       /* one escaped line, NULL for OK */
	const struct ic_endpoint *endpoint; /* that decided */
	int platform;                       /* number of the wanted platform that it is about, or -1 */
};

/* What an endpoint refused, while words for it are looked for. */
struct ic_refused {
	enum imgcheck_verdict verdict;
	int rank;       /* of the failure, by containerd's order */
	long status;
	bool with_login;
	char *reason;
};

struct ic_pieces;

struct ic_piece {
	char *key;
	enum ic_piece_kind kind;
	struct ic_pieces *all;
	struct ic_source *source;
	/* what it is, told by what names it */
	char *name; /* a tag, or a digest */
	char *media_type;
	size_t size;
	struct ic_vec urls;   /* texts: where a foreign layer is fetched from first */
	int platform;         /* number of the wanted platform that it serves, -1 for all */
	int judge;            /* of a manifest or a config: IC_JUDGE_..., or a wanted platform */
	unsigned depth;       /* of a manifest: indexes above it */
	size_t layers;        /* of a config: how many its manifest lists, or IC_LAYERS_ANY */
	char *data;           /* the content, `size` bytes, where what names it holds it; else NULL */
	/* how far it is */
	struct ic_exchange *exchange;
	size_t only;          /* as in struct ic_part */
	size_t endpoint, url; /* which is asked */
	unsigned step;        /* what is asked of it; each kind has its own */
	size_t pending;       /* pieces below it that are not decided */
	bool asked, decided;  /* asked: its own part is done */
	struct ic_finding finding;
	struct ic_finding failure; /* of the endpoints tried so far the one that counts */
	int failure_rank;
	struct ic_refused refused; /* by the endpoint at hand */
	struct ic_buf others;      /* what further endpoints said */
	char *digest;              /* of a tag: what it resolved to */
	/* who waits */
	struct ic_vec parents; /* struct ic_piece * */
	struct ic_vec images;  /* size_t */
};

/* Called once for each image that waits for a piece. */
typedef void (*ic_piece_decided)(void *arg, const struct ic_piece *piece, size_t image);

/* All pieces of a run. */
struct ic_pieces {
	struct ic_session *session;
	enum ic_depth depth;
	size_t count; /* ever asked for */
	ic_piece_decided decided;
	void *arg;
};

void ic_pieces_init(struct ic_pieces *all, struct ic_session *session, ic_piece_decided decided, void *arg);

/* Frees the pieces of a source. */
void ic_pieces_forget(struct ic_source *source);

/* A piece as what names it describes it; everything is copied. */
struct ic_part {
	enum ic_piece_kind kind;
	const char *name, *media_type;
	size_t size;
	const struct ic_vec *urls; /* texts, or NULL */
	int platform, judge;
	unsigned depth;
	size_t layers;
	const char *data; /* `size` bytes, or NULL */
	size_t only;      /* 1 and the number of the endpoint that alone is asked; 0: all are */
};

/* The piece, known or new (then it is asked for).  NULL: the session has failed. */
struct ic_piece *ic_pieces_get(struct ic_pieces *all, struct ic_source *source, const struct ic_part *part);

/* Asks for the piece below the parent, which is decided no sooner. */
void ic_piece_add(struct ic_piece *parent, const struct ic_part *part);

/* The image waits for the piece; it is told at once where that is decided already. */
void ic_piece_add_image(struct ic_piece *piece, size_t image);

/* ------------------------------------------------------------------ for the kinds */

const struct ic_endpoint *ic_piece_endpoint(const struct ic_piece *piece);

/* Puts the question to the endpoint at hand. */
void ic_piece_ask(struct ic_piece *piece, const struct ic_question *question, ic_reply_fn done);

/* This endpoint cannot serve the piece; the next one is asked. */
void ic_piece_fail_endpoint(struct ic_piece *piece, const struct ic_reply *reply);

/* The same for content that is fetched: more of it than was told is the content's own fault. */
void ic_piece_fail_fetch(struct ic_piece *piece, const struct ic_reply *reply);

/* Whether the bytes are those that were told; else the piece has failed. */
bool ic_piece_is_genuine(struct ic_piece *piece, const char *data, size_t len);

/* Whether a success was given up for its body, which has more than `most` bytes; not for its header fields. */
bool ic_reply_is_oversized(const struct ic_reply *reply, size_t most);

/* The same with what was kept of its refusal. */
void ic_piece_fail_refused(struct ic_piece *piece);

/* Nobody after the endpoint at hand would be asked. */
bool ic_piece_is_last_endpoint(const struct ic_piece *piece);

/*
 * Of several endpoints' failures CRI-O reports the last, and containerd the first of the highest class: no answer, then 404, then
 * another status, then too large (core/remotes/docker/resolver.go).
 */
int ic_piece_failure_rank(const struct ic_reply *reply);

/* The piece itself is no good, whoever else is asked. */
void ic_piece_fail(struct ic_piece *piece, enum imgcheck_verdict verdict, const char *format, ...) IC_PRINTF(3, 4);

/* The verdict where its content cannot be read: what is beyond our own limits a runtime may well read. */
enum imgcheck_verdict ic_piece_unreadable(int result);

/* The piece's own part is good; what it names was added before. */
void ic_piece_accept(struct ic_piece *piece);

const struct ic_profile *ic_piece_profile(const struct ic_piece *piece);

/* How each kind asks the endpoint at hand. */
void ic_piece_ask_tag(struct ic_piece *piece);
void ic_piece_ask_manifest(struct ic_piece *piece);
void ic_piece_ask_config(struct ic_piece *piece);
void ic_piece_ask_layer(struct ic_piece *piece);

#endif
