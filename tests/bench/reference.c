/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The practical floor: the same requests as imgcheck makes for the same images, by a bare libcurl-multi program
 * that judges nothing, retries nothing and bounds nothing.
 *
 * usage: reference [-b] [-t] [-1] [-c CA] BASE FILE
 *
 *   -b  down to the blobs: HEAD, manifests by digest, config, HEAD of the layers; else HEAD alone
 *   -t  with a token a repository, asked for after the first request's challenge
 *   -1  HTTP/1.1 on 16 connections; else HTTP/2, where TLS offers it, with up to 200 streams
 *   BASE is http://HOST:PORT or https://..., FILE has a REPOSITORY:TAG on each line
 */
#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BODY_BYTES ((size_t)4 << 20)

enum kind { PIONEER, TOKEN, TAG, MANIFEST, CONFIG, LAYER };

struct image {
	char *repository, *tag, *authorization;
};

/* A request that waits or runs. */
struct task {
	enum kind kind;
	size_t image;
	char *name; /* tag or digest; owned */
	CURL *easy;
	struct curl_slist *header;
	char *body, *digest;
	size_t len;
	struct task *next;
};

static struct {
	bool blobs, tokens, http1;
	const char *ca, *base;
	struct image *images;
	size_t count, running, cap, failed, requests;
	CURLM *multi;
	CURL *idle[256];
	size_t idle_count;
	struct task *first, *last;
	char *realm, *service;
} g;

static const char accept_line[] =
	"Accept: application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json, "
	"application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, */*";

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "reference: no memory\n");
		exit(1);
	}
	return p;
}

static void add(enum kind kind, size_t image, const char *name)
{
	struct task *t = must(calloc(1, sizeof(*t)));

	t->kind = kind;
	t->image = image;
	t->name = must(strdup(name));
	if (g.last)
		g.last->next = t;
	else
		g.first = t;
	g.last = t;
}

/* ------------------------------------------------------------------ callbacks */

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
	struct task *t = arg;

	len *= one;
	if (t->len + len > BODY_BYTES)
		return 0;
	t->body = must(realloc(t->body, t->len + len + 1));
	memcpy(t->body + t->len, data, len);
	t->len += len;
	t->body[t->len] = '\0';
	return len;
}

/* The value of realm="..." and the like. */
static char *parameter(const char *line, const char *name)
{
	const char *found = strstr(line, name);

	if (!found)
		return NULL;
	found += strlen(name);
	return strndup(found, strcspn(found, "\""));
}

static size_t on_header(char *data, size_t one, size_t len, void *arg)
{
	static const char challenge[] = "www-authenticate:", digest[] = "docker-content-digest: ";
	struct task *t = arg;

	len *= one;
	if (len > strlen(digest) && strncasecmp(data, digest, strlen(digest)) == 0) {
		free(t->digest);
		t->digest = strndup(data + strlen(digest), len - strlen(digest));
		t->digest[strcspn(t->digest, "\r\n")] = '\0';
	} else if (!g.realm && len > strlen(challenge) && strncasecmp(data, challenge, strlen(challenge)) == 0) {
		char *line = must(strndup(data, len));

		g.realm = parameter(line, "realm=\"");
		g.service = parameter(line, "service=\"");
		free(line);
	}
	return len;
}

/* ------------------------------------------------------------------ requests */

static void write_url(const struct task *t, char *url, size_t size)
{
	const char *repository = g.images[t->image].repository;

	switch (t->kind) {
	case TOKEN:
		(void)snprintf(url, size, "%s?service=%s&scope=repository%%3A%s%%3Apull", g.realm, g.service, repository);
		break;
	case PIONEER:
	case TAG:
	case MANIFEST:
		(void)snprintf(url, size, "%s/v2/%s/manifests/%s", g.base, repository, t->name);
		break;
	case CONFIG:
	case LAYER:
		(void)snprintf(url, size, "%s/v2/%s/blobs/%s", g.base, repository, t->name);
		break;
	}
}

static void launch(struct task *t)
{
	CURL *easy = g.idle_count > 0 ? g.idle[--g.idle_count] : must(curl_easy_init());
	const struct image *image = &g.images[t->image];
	char url[2048];

	write_url(t, url, sizeof(url));
	t->easy = easy;
	curl_easy_reset(easy);
	if (t->kind == PIONEER || t->kind == TAG || t->kind == MANIFEST)
		t->header = must(curl_slist_append(t->header, accept_line));
	if (image->authorization && t->kind != TOKEN)
		t->header = must(curl_slist_append(t->header, image->authorization));
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->header);
	curl_easy_setopt(easy, CURLOPT_NOBODY, t->kind == PIONEER || t->kind == TAG || t->kind == LAYER ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "reference");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, g.http1 ? 0L : 1L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(g.http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
	curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	if (g.ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, g.ca);
	curl_multi_add_handle(g.multi, easy);
	g.running++;
	g.requests++;
}

/* ------------------------------------------------------------------ answers */

static void take_token(const struct task *t)
{
	json_t *json = json_loadb(t->body ? t->body : "", t->len, 0, NULL);
	const char *token = json_string_value(json_object_get(json, "token"));
	struct image *image = &g.images[t->image];
	size_t size = strlen("Authorization: Bearer ") + strlen(token ? token : "") + 1;

	image->authorization = must(malloc(size));
	(void)snprintf(image->authorization, size, "Authorization: Bearer %s", token ? token : "");
	add(TAG, t->image, image->tag);
	json_decref(json);
}

static void take_index(const struct task *t, json_t *entries)
{
	json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		json_t *platform = json_object_get(entry, "platform");
		const char *architecture = json_string_value(json_object_get(platform, "architecture"));

		if (architecture && strcmp(architecture, "amd64") == 0) {
			add(MANIFEST, t->image, json_string_value(json_object_get(entry, "digest")));
			return;
		}
	}
	g.failed++;
}

static void take_manifest(const struct task *t)
{
	json_t *json = json_loadb(t->body ? t->body : "", t->len, 0, NULL);
	json_t *entries = json_object_get(json, "manifests"), *layer;
	size_t i;

	if (entries) {
		take_index(t, entries);
	} else {
		add(CONFIG, t->image, json_string_value(json_object_get(json_object_get(json, "config"), "digest")));
		json_array_foreach(json_object_get(json, "layers"), i, layer)
			add(LAYER, t->image, json_string_value(json_object_get(layer, "digest")));
	}
	json_decref(json);
}

static void start_all(size_t from)
{
	for (size_t i = from; i < g.count; i++)
		add(g.tokens ? TOKEN : TAG, i, g.tokens ? "" : g.images[i].tag);
}

static void take(const struct task *t, long status)
{
	g.failed += status != 200 && t->kind != PIONEER;
	switch (t->kind) {
	case PIONEER:
		g.cap = g.http1 ? 16 : 200; /* on HTTP/2 libcurl itself keeps to what the server admits */
		if (status == 401 && g.realm) {
			start_all(0);
		} else {
			start_all(1);
			if (status == 200 && g.blobs)
				add(MANIFEST, t->image, t->digest);
		}
		break;
	case TOKEN:
		take_token(t);
		break;
	case TAG:
		if (g.blobs && t->digest)
			add(MANIFEST, t->image, t->digest);
		break;
	case MANIFEST:
		take_manifest(t);
		break;
	case CONFIG:
	case LAYER:
		break;
	}
}

static void finish(CURL *easy)
{
	struct task *t = NULL;
	long status = 0;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	curl_multi_remove_handle(g.multi, easy);
	g.running--;
	take(t, status);
	if (g.idle_count < sizeof(g.idle) / sizeof(g.idle[0]))
		g.idle[g.idle_count++] = easy;
	else
		curl_easy_cleanup(easy);
	curl_slist_free_all(t->header);
	free(t->name);
	free(t->body);
	free(t->digest);
	free(t);
}

static void start_waiting(void)
{
	while (g.first && g.running < g.cap) {
		struct task *t = g.first;

		g.first = t->next;
		if (!g.first)
			g.last = NULL;
		launch(t);
	}
}

static void run(void)
{
	CURLMsg *message;
	int left, running;

	g.cap = 1;
	add(PIONEER, 0, g.images[0].tag);
	do {
		start_waiting();
		curl_multi_perform(g.multi, &running);
		while ((message = curl_multi_info_read(g.multi, &left)))
			if (message->msg == CURLMSG_DONE)
				finish(message->easy_handle);
		if (g.running > 0 && (!g.first || g.running >= g.cap))
			curl_multi_poll(g.multi, NULL, 0, 1000, NULL);
	} while (g.running > 0 || g.first);
}

static bool read_images(const char *path)
{
	FILE *in = fopen(path, "re");
	char line[1024];

	if (!in)
		return false;
	while (fgets(line, sizeof(line), in)) {
		char *tag;

		line[strcspn(line, "\n")] = '\0';
		tag = strrchr(line, ':');
		if (!tag)
			continue;
		*tag++ = '\0';
		if (g.count % 1024 == 0)
			g.images = must(realloc(g.images, (g.count + 1024) * sizeof(*g.images)));
		g.images[g.count++] = (struct image){must(strdup(line)), must(strdup(tag)), NULL};
	}
	return fclose(in) == 0 && g.count > 0;
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "bt1c:")) != -1) {
		if (option == 'b')
			g.blobs = true;
		else if (option == 't')
			g.tokens = true;
		else if (option == '1')
			g.http1 = true;
		else if (option == 'c')
			g.ca = optarg;
		else
			return 2;
	}
	if (argc - optind != 2 || !read_images(argv[optind + 1]))
		return 2;
	g.base = argv[optind];
	curl_global_init(CURL_GLOBAL_DEFAULT);
	g.multi = must(curl_multi_init());
	curl_multi_setopt(g.multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 250L);
	curl_multi_setopt(g.multi, CURLMOPT_MAX_HOST_CONNECTIONS, g.http1 ? 16L : 1L);
	run();
	printf("%zu images, %zu requests, %zu failed\n", g.count, g.requests, g.failed);
	return g.failed > 0;
}
