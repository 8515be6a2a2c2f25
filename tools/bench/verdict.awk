# SPDX-License-Identifier: GPL-2.0-only
#
# What of a table of weft-bench was reached: a line for each result of which something
# is asked (docs: tools/bench/bench.sh).
#
#	awk -f tools/bench/verdict.awk TABLE
#
# Exit status 0 if all was reached, 3 if not, 1 if the table asks for nothing: then
# nothing was measured.

BEGIN { FS = "\t" }

FNR > 1 && $7 != "-" {
	asked++
	reached = $3 + 0 >= $7 + 0
	missed += !reached
	printf("%-8s %-24s %12.4g %s, asked: %s\n", reached ? "reached" : "MISSED",
		$1 " " $2, $3, $6, $7)
}

END {
	if (!asked) {
		print "bench: the table asks for nothing" >"/dev/stderr"
		exit 1
	}
	exit missed ? 3 : 0
}
