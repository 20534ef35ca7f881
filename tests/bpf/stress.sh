#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two CPUs at one port of this machine's own kernel, once a policy.
# Usage (root): stress.sh BUILD_DIRECTORY OUT_DIRECTORY BURSTS POLICY...
set -eu
trap 'status=$?; [ "$status" = 0 ] || echo "tests/bpf/stress.sh: ended with status $status" >&2' EXIT
if [ -z "${CELLQ_STRESS_INSIDE-}" ]; then # namespaces of its own, gone at the end
	CELLQ_STRESS_INSIDE=1 exec unshare --net --mount "$0" "$@"
fi
build=$1 out=$2 bursts=$3
shift 3
[ "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs ] || mount -t bpf bpf /sys/fs/bpf
ip link add name down type veth peer name other
for i in $(seq 2 2 100); do
	echo "link add name h$((i - 1)) index $((999 + i)) type veth peer name h$i index $((1000 + i))"
done | ip -batch -
seq 100 | sed "s/.*/$$ h&/" > "$out/list"
for policy in "$@"; do
	"$build/cellq" load --name stress --policy "$policy" --buffer-cells 300 --z-ppm 800000 \
		--threshold-ppm 500000 --rate-bit-per-s 100000000 --access-rate-bit-per-s 149760000 \
		--access-delay-ns 5000 --vcs 100 --ifindex-base 1000 --verdict-dev down \
		--announce-list "$out/list" --late-tolerance-ns 1000000000 \
		--record-frames --record-drops --sample-ns 100000
	"$build/cellq" record --name stress --out "$out/$policy.rec" --until-signal &
	"$build/stress" stress 2 "$bursts"
	kill -TERM $!
	wait $!
	"$build/cellq" read --name stress --json > "$out/$policy.json"
	"$build/cellq" unload --name stress
done
