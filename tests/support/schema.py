# SPDX-License-Identifier: Apache-2.0
"""The published schema of a report; the tests hold every report that they see against it."""

import functools
import json

import jsonschema

from . import ROOT

PATH = ROOT / "libimgcheck" / "report.schema.json"


@functools.lru_cache(None)
def validator():
    schema = json.loads(PATH.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validate(report):
    """The report, if it is a valid one."""
    validator().validate(report)
    return report
