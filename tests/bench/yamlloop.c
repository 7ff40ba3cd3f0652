/* SPDX-License-Identifier: Apache-2.0 */
/* The floor for reading manifests: libyaml's events over a file, each thrown away.  usage: yamlloop FILE */
#include <stdio.h>
#include <yaml.h>

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "rbe") : NULL;
	yaml_parser_t parser;
	yaml_event_t event;
	size_t count = 0;
	int type = YAML_NO_EVENT;

	if (!in || !yaml_parser_initialize(&parser)) {
		fprintf(stderr, "usage: yamlloop FILE\n");
		return 2;
	}
	yaml_parser_set_input_file(&parser, in);
	while (type != YAML_STREAM_END_EVENT && yaml_parser_parse(&parser, &event)) {
		type = event.type;
		count++;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	(void)fclose(in);
	printf("%zu events\n", count);
	return type == YAML_STREAM_END_EVENT ? 0 : 1;
}
