/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "manifest/images.h"
#include "manifest/pull_secrets.h"
#include "source/config.h"
#include "source/endpoint.h"
#include "test.h"

/* {"auths": {"quay.io": {"username": "pod", "password": "hunter2"}}}, the same for "other", and what is no JSON */
#define POD "eyJhdXRocyI6IHsicXVheS5pbyI6IHsidXNlcm5hbWUiOiAicG9kIiwgInBhc3N3b3JkIjogImh1bnRlcjIifX19"
#define PLAIN "'{\"auths\": {\"quay.io\": {\"username\": \"plain\", \"password\": \"hunter3\"}}}'"

static const char manifests[] =
	"apiVersion: v1\nkind: Secret\nmetadata: {name: regcred, namespace: web}\ntype: kubernetes.io/dockerconfigjson\n"
	"data: {.dockerconfigjson: " POD "}\n---\n"
	"apiVersion: v1\nkind: List\nitems:\n- kind: Secret\n  metadata: {name: plain}\n  type: kubernetes.io/dockerconfigjson\n"
	"  stringData: {.dockerconfigjson: " PLAIN "}\n"
	"- kind: Secret\n  metadata: {name: broken}\n  type: kubernetes.io/dockerconfigjson\n"
	"  data: {.dockerconfigjson: aHVudGVyNA==}\n"
	"- kind: Secret\n  metadata: {name: empty}\n  type: kubernetes.io/dockerconfigjson\n  data: {.dockerconfigjson: ''}\n"
	"- kind: Secret\n  metadata: {name: cfg}\n  type: kubernetes.io/dockercfg\n"
	"  stringData: {.dockercfg: '{\"quay.io\": {\"username\": \"cfg\", \"password\": \"p\"}}'}\n"
	"- kind: Secret\n  metadata: {name: config-as-cfg}\n  type: kubernetes.io/dockercfg\n  data: {.dockercfg: " POD "}\n"
	"- kind: Secret\n  metadata: {name: cfg-as-config}\n  type: kubernetes.io/dockerconfigjson\n"
	"  stringData: {.dockerconfigjson: '{\"quay.io\": {\"username\": \"cfg\", \"password\": \"p\"}}'}\n"
	"- kind: ServiceAccount\n  metadata: {name: app, namespace: web}\n  imagePullSecrets: [{name: regcred}]\n"
	"- kind: ServiceAccount\n  metadata: {name: empty, namespace: web}\n  imagePullSecrets: []\n"
	"- kind: Secret\n  metadata: {name: opaque}\n  type: Opaque\n  data: {.dockerconfigjson: " POD "}\n---\n"
	"kind: ServiceAccountList\nitems:\n- metadata: {name: default, namespace: apps}\n"
	"  imagePullSecrets: [{name: plain}, {name: cfg}]\n- metadata: {name: lost}\n  imagePullSecrets: [{name: gone}]\n";

/* A pod of its own for each image. */
#define POD_OF(name, space, secrets)                                                                           \
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: " space "}\nspec:\n"              \
	"  imagePullSecrets: [" secrets "]\n  containers: [{name: a, image: 'quay.io/org/" name ":1'}]\n"

/* With what a pod says besides. */
#define RUN_AS(name, space, more)                                                                              \
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: " space "}\nspec:\n"              \
	"  " more "\n  containers: [{name: a, image: 'quay.io/run-as/" name ":1'}]\n"

static const char pods[] = POD_OF("one", "web", "{name: regcred}") POD_OF("elsewhere", "db", "{name: regcred}")
	POD_OF("plain", "db", "{name: plain}") POD_OF("both", "web", "{name: plain}, {name: regcred}")
	POD_OF("two", "web", "{name: first}, {name: second}") POD_OF("broken", "web", "{name: broken}")
	POD_OF("opaque", "web", "{name: opaque}") POD_OF("none", "web", "")
	POD_OF("beside", "web", "{name: plain}, {name: broken}") POD_OF("empty", "web", "{name: empty}")
	POD_OF("cfg", "web", "{name: cfg}") RUN_AS("app", "web", "serviceAccountName: app")
	RUN_AS("former", "web", "serviceAccount: app") RUN_AS("empty-name", "web", "serviceAccountName: ''\n  serviceAccount: app")
	RUN_AS("no-namespace", "null", "serviceAccountName: app") RUN_AS("other-namespace", "apps", "serviceAccountName: app")
	RUN_AS("no-secrets", "web", "serviceAccountName: empty") RUN_AS("default", "apps", "imagePullSecrets: []")
	RUN_AS("own", "web", "serviceAccountName: app\n  imagePullSecrets: [{name: plain}]")
	RUN_AS("own-unnamed", "web", "serviceAccountName: app\n  imagePullSecrets: [{}]")
	RUN_AS("lost", "web", "serviceAccountName: lost")
	POD_OF("config-as-cfg", "web", "{name: config-as-cfg}") POD_OF("cfg-as-config", "web", "{name: cfg-as-config}");

static const struct {
	const char *image;
	const char *users[3]; /* in the order of the pulls; "" for anonymous */
	const char *source;   /* of the first, a part */
} rows[] = {
	{"quay.io/org/one:1", {"pod", "node"}, "Secret web/regcred in pods.yaml (quay.io)"},
	{"quay.io/org/elsewhere:1", {"node"}, "auth.json (quay.io)"},
	{"quay.io/org/plain:1", {"plain", "node"}, "Secret plain in pods.yaml (quay.io)"},
	{"quay.io/org/both:1", {"plain", "pod", "node"}, "Secret plain"},
	{"quay.io/org/cfg:1", {"cfg", "node"}, "Secret cfg in pods.yaml (quay.io)"},
	{"quay.io/org/config-as-cfg:1", {"node"}, "auth.json (quay.io)"},
	{"quay.io/org/none:1", {"node"}, "auth.json (quay.io)"},
	/* those of the ServiceAccount, where the pod has none */
	{"quay.io/run-as/app:1", {"pod", "node"}, "Secret web/regcred in pods.yaml (quay.io)"},
	{"quay.io/run-as/former:1", {"pod", "node"}, "Secret web/regcred"},
	{"quay.io/run-as/empty-name:1", {"pod", "node"}, "Secret web/regcred"},
	{"quay.io/run-as/no-namespace:1", {"pod", "node"}, "Secret web/regcred"},
	{"quay.io/run-as/other-namespace:1", {"node"}, "auth.json (quay.io)"},
	{"quay.io/run-as/no-secrets:1", {"node"}, "auth.json (quay.io)"},
	{"quay.io/run-as/default:1", {"plain", "cfg", "node"}, "Secret plain"},
	{"quay.io/run-as/own:1", {"plain", "node"}, "Secret plain"},
	{"quay.io/run-as/own-unnamed:1", {"node"}, "auth.json (quay.io)"},
};

static struct imgcheck_images *make_images(void)
{
	struct imgcheck_images *s;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_data(s, "pods.yaml", manifests, strlen(manifests), NULL), 0);
	cr_assert_eq(imgcheck_images_add_data(s, "pods.yaml", pods, strlen(pods), NULL), 0);
	return s;
}

static const struct imgcheck_image *find_image(const struct imgcheck_images *s, const char *ref)
{
	for (size_t i = 0; i < imgcheck_images_count(s); i++)
		if (strcmp(imgcheck_image_ref(imgcheck_images_get(s, i)), ref) == 0)
			return imgcheck_images_get(s, i);
	cr_assert(false, "%s", ref);
	return NULL;
}

TEST(pod_secrets, go_before_the_node_s)
{
	static const char node[] = "{\"auths\": {\"quay.io\": {\"username\": \"node\", \"password\": \"p\"}}}";
	struct imgcheck_images *s = make_images();
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "auth.json", node, strlen(node), NULL), 0);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_endpoints found;

		cr_assert_eq(ic_endpoints_find_image(c, s, find_image(s, rows[i].image), &found, NULL), 0);
		for (size_t k = 0; k < 3 && rows[i].users[k]; k++) {
			cr_assert_gt(found.list.count, k, "%s", rows[i].image);
			cr_assert_str_eq(((struct ic_endpoint *)ic_vec_at(&found.list, k))->login.user, rows[i].users[k], "%s", rows[i].image);
			cr_assert(k == 2 || rows[i].users[k + 1] || found.list.count == k + 1, "%s", rows[i].image);
		}
		cr_assert(strstr(((struct ic_endpoint *)ic_vec_at(&found.list, 0))->login.source, rows[i].source), "%s: %s", rows[i].image,
		          ((struct ic_endpoint *)ic_vec_at(&found.list, 0))->login.source);
		ic_endpoints_clear(&found);
	}
	imgcheck_config_free(c);
	imgcheck_images_free(s);
}

/* Where there is no other login, it is told why the named one is not used. */
TEST(pod_secrets, that_are_lacking_are_told)
{
	static const struct {
		const char *image, *source;
	} lacking[] = {
		{"quay.io/org/elsewhere:1", "none (imagePullSecrets: regcred is not among the manifests)"},
		{"quay.io/org/opaque:1", "none (imagePullSecrets: opaque is not among the manifests)"},
		{"quay.io/run-as/lost:1", "none (imagePullSecrets: gone is not among the manifests)"},
		{"quay.io/org/two:1", "none (imagePullSecrets: first is not among the manifests)"},
		{"quay.io/org/empty:1", "none (imagePullSecrets: empty is empty)"},
		{"quay.io/org/config-as-cfg:1", "none (imagePullSecrets: config-as-cfg has no login in the form of its type)"},
		{"quay.io/org/cfg-as-config:1", "none (imagePullSecrets: cfg-as-config has no login in the form of its type)"},
	};
	struct imgcheck_images *s = make_images();
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	for (size_t i = 0; i < IC_COUNT(lacking); i++) {
		struct ic_endpoints found;
		const struct ic_login *login;

		cr_assert_eq(ic_endpoints_find_image(c, s, find_image(s, lacking[i].image), &found, NULL), 0);
		login = &((struct ic_endpoint *)ic_vec_at(&found.list, 0))->login;
		cr_assert_null(login->user);
		cr_assert_str_eq(login->source, lacking[i].source);
		ic_endpoints_clear(&found);
	}
	imgcheck_config_free(c);
	imgcheck_images_free(s);
}

/* The kubelet then pulls nothing for this pod, whatever else it knows; a login that was set goes before all of it. */
TEST(pod_secrets, that_are_broken_end_the_pull)
{
	static const char *const images[] = {"quay.io/org/broken:1", "quay.io/org/beside:1"};
	struct imgcheck_images *s = make_images();
	struct imgcheck_config *c;
	struct ic_endpoints found;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	for (size_t i = 0; i < IC_COUNT(images); i++) {
		cr_assert_eq(ic_endpoints_find_image(c, s, find_image(s, images[i]), &found, NULL), 0);
		cr_assert_eq(found.list.count, 0, "%s", images[i]);
		cr_assert_eq(found.verdict, IMGCHECK_VERDICT_UNREACHABLE);
		cr_assert(strstr(found.reason, "Secret broken in pods.yaml cannot read JSON"), "%s", found.reason);
		ic_endpoints_clear(&found);
	}
	cr_assert_eq(imgcheck_config_set_login(c, "quay.io", "u", "p", NULL), 0);
	cr_assert_eq(ic_endpoints_find_image(c, s, find_image(s, images[0]), &found, NULL), 0);
	cr_assert_eq(found.list.count, 1);
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
	imgcheck_images_free(s);
}

TEST(pod_secrets, are_found_by_name_and_namespace)
{
	struct imgcheck_images *s = make_images();

	cr_assert_eq(s->pull_secrets.secrets.count, 7, "an Opaque one is none");
	cr_assert_eq(s->pull_secrets.accounts.count, 3, "without secrets it is none");
	cr_assert_not_null(ic_pull_secrets_find(&s->pull_secrets, "regcred", 7, "web"));
	cr_assert_not_null(ic_pull_secrets_find(&s->pull_secrets, "regcred", 7, NULL));
	cr_assert_not_null(ic_pull_secrets_find(&s->pull_secrets, "plain", 5, "web"));
	cr_assert_null(ic_pull_secrets_find(&s->pull_secrets, "regcred", 7, "db"));
	cr_assert_null(ic_pull_secrets_find(&s->pull_secrets, "regcre", 6, "web"));
	imgcheck_images_free(s);
}
