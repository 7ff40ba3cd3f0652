/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "render/prometheus.h"
#include "show.h"

#define NAME(name) "imgcheck_watch_" name

static void print_conditions(const struct state *s, FILE *out)
{
	prometheus_head(NAME("images"), "gauge", "Images by what was last known of them.", out);
	for (long long c = 0; state_condition_name(c); c++) {
		size_t count = 0;

		for (size_t i = 0; i < s->image_count; i++)
			count += s->images[i].condition == c;
		fprintf(out, NAME("images") "{condition=\"%s\"} %zu\n", state_condition_name(c), count);
	}
}

static void print_sample(const char *name, const char *label, const char *value, long long number, FILE *out)
{
	fprintf(out, "%s{", name);
	prometheus_label(label, value, out);
	fprintf(out, "} %lld\n", number);
}

static void print_images(const struct state *s, FILE *out)
{
	prometheus_head(NAME("image_gone"), "gauge", "Whether the registry said that it does not have the image (1).", out);
	for (size_t i = 0; i < s->image_count; i++)
		print_sample(NAME("image_gone"), "reference", s->images[i].ref, s->images[i].condition == STATE_GONE, out);
	prometheus_head(NAME("image_failing"), "gauge", "Whether nothing could be told of the image for several rounds (1).", out);
	for (size_t i = 0; i < s->image_count; i++)
		print_sample(NAME("image_failing"), "reference", s->images[i].ref, s->images[i].failing != 0, out);
	prometheus_head(NAME("image_changed_timestamp_seconds"), "gauge",
			"When the image was first seen with its digest, or vanished; 0 where nothing is known of it.", out);
	for (size_t i = 0; i < s->image_count; i++)
		print_sample(NAME("image_changed_timestamp_seconds"), "reference", s->images[i].ref, s->images[i].since, out);
}

static void print_gates(const struct state *s, FILE *out)
{
	prometheus_head(NAME("gate_phase"), "gauge", "The phase of each gate: 1 for the one that it is in.", out);
	for (size_t i = 0; i < s->gate_count; i++)
		for (long long p = 0; s->gates[i].used && state_phase_name(p); p++) {
			fprintf(out, NAME("gate_phase") "{");
			prometheus_label("gate", s->gates[i].name, out);
			fprintf(out, ",phase=\"%s\"} %d\n", state_phase_name(p), s->gates[i].phase == p);
		}
	prometheus_head(NAME("gate_phase_timestamp_seconds"), "gauge", "When the gate came into its phase.", out);
	for (size_t i = 0; i < s->gate_count; i++)
		if (s->gates[i].used)
			print_sample(NAME("gate_phase_timestamp_seconds"), "gate", s->gates[i].name, s->gates[i].since, out);
}

static void print_events(const struct state *s, FILE *out)
{
	prometheus_head(NAME("events_total"), "counter", "Events so far.", out);
	fprintf(out, NAME("events_total") " %lld\n", s->last_event);
	prometheus_head(NAME("events_waiting"), "gauge", "Events that not everybody has been told yet.", out);
	fprintf(out, NAME("events_waiting") " %zu\n", s->event_count);
	prometheus_head(NAME("tell_failures"), "gauge", "Attempts in a row to tell an event that failed.", out);
	for (size_t i = 0; i < s->sink_count; i++)
		print_sample(NAME("tell_failures"), "by", s->sinks[i].name, s->sinks[i].failures, out);
}

void show_metrics(const struct show *v, FILE *out)
{
	print_conditions(v->state, out);
	print_images(v->state, out);
	print_gates(v->state, out);
	print_events(v->state, out);
	prometheus_head(NAME("problems"), "gauge", "Manifests, or parts of them, that could not be read in the last round.", out);
	fprintf(out, NAME("problems") " %zu\n", v->problems);
	prometheus_head(NAME("last_round_timestamp_seconds"), "gauge", "When the last round ended.", out);
	fprintf(out, NAME("last_round_timestamp_seconds") " %lld\n", v->state->round);
	prometheus_head(NAME("last_round_duration_seconds"), "gauge", "How long it took.", out);
	fprintf(out, NAME("last_round_duration_seconds") " %.3f\n", v->seconds);
}
