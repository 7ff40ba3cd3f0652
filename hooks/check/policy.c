/* SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include <stddef.h>
#include <string.h>

#include "program/auto.h"
#include "program/status.h"

/* In the order in which their exit statuses win. */
static const struct {
	enum imgcheck_outcome class;
	enum imgcheck_option option;
	enum imgcheck_decision effect;
	int status;
} classes[] = {
	{ IMGCHECK_OUTCOME_INTERNAL, IMGCHECK_OPTION_ON_INTERNAL_ERROR, IMGCHECK_DECISION_WARN, STATUS_INTERNAL },
	{ IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_OPTION_ON_UNREADABLE, IMGCHECK_DECISION_VETO, STATUS_UNREADABLE },
	{ IMGCHECK_OUTCOME_UNRESOLVED, IMGCHECK_OPTION_ON_UNRESOLVED, IMGCHECK_DECISION_WARN, STATUS_UNREADABLE },
	{ IMGCHECK_OUTCOME_MISSING, IMGCHECK_OPTION_ON_MISSING, IMGCHECK_DECISION_VETO, STATUS_MISSING },
	{ IMGCHECK_OUTCOME_ALREADY_MISSING, IMGCHECK_OPTION_ON_ALREADY_MISSING, IMGCHECK_DECISION_WARN, STATUS_MISSING },
	{ IMGCHECK_OUTCOME_HINT, IMGCHECK_OPTION_ON_HINT, IMGCHECK_DECISION_WARN, STATUS_MISSING },
	{ IMGCHECK_OUTCOME_ACCESS, IMGCHECK_OPTION_ON_ACCESS, IMGCHECK_DECISION_VETO, STATUS_ACCESS },
	{ IMGCHECK_OUTCOME_UNDECIDED, IMGCHECK_OPTION_ON_UNDECIDED, IMGCHECK_DECISION_VETO, STATUS_UNDECIDED },
};

bool policy_option(enum imgcheck_outcome class, enum imgcheck_option *option)
{
	for (size_t i = 0; i < COUNT(classes); i++)
		if (classes[i].class == class) {
			*option = classes[i].option;
			return true;
		}
	return false;
}

bool policy_class(const char *name, enum imgcheck_outcome *class)
{
	for (size_t i = 0; i < COUNT(classes); i++)
		if (!strcmp(name, imgcheck_outcome_name(classes[i].class))) {
			*class = classes[i].class;
			return true;
		}
	return false;
}

enum imgcheck_decision policy_default(enum imgcheck_outcome class)
{
	for (size_t i = 0; i < COUNT(classes); i++)
		if (classes[i].class == class)
			return classes[i].effect;
	return IMGCHECK_DECISION_ALLOW;
}

int policy_status(const struct imgcheck_report *report)
{
	for (size_t i = 0; i < COUNT(classes); i++)
		if (imgcheck_report_vetoes(report, classes[i].class))
			return classes[i].status;
	return imgcheck_report_decision(report) == IMGCHECK_DECISION_VETO ? STATUS_INTERNAL : STATUS_OK;
}
