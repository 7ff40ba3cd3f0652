#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# agent.sh PORT: runs what comes in, a shell script in base64 a line, and answers each with a line of its exit status,
# its standard output and its standard error, the two in base64, joined by points.
set -u

exec <>"$1"
while read -r line; do
	echo "$line" | base64 -d >/run/agent/script
	sh /run/agent/script >/run/agent/out 2>/run/agent/err </dev/null
	status=$?
	echo "$status.$(base64 -w 0 /run/agent/out).$(base64 -w 0 /run/agent/err)" >&0
done
