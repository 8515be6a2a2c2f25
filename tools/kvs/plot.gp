# SPDX-License-Identifier: GPL-2.0-only
#
# Plots what tools/kvs/compare.sh has measured:
#
#	gnuplot -e "in='results.tsv'; out='kvs.svg'; kinds='weft spin'" tools/kvs/plot.gp
#
# Against the number of nodes, YCSB A, B and C from left to right: operations a second
# above, user time per operation below, on logarithmic axes; workloads='a c' leaves B out.  The end of the output's
# name, .svg or .png, says what it becomes.

if (!exists("in")) in = "results.tsv"
if (!exists("out")) out = "kvs.svg"
if (!exists("kinds")) kinds = "weft spin"
if (!exists("workloads")) workloads = "a b c"

if (out[strlen(out)-3:] eq ".png") {
	set terminal pngcairo size 1100,700 font "sans,10"
} else {
	set terminal svg size 1100,700 font "sans,10" background "white"
}
set output out
set datafile separator "\t"
set datafile missing "-"

set multiplot layout 2,words(workloads)
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set logscale y
set format y "10^{%L}"
set xtics 1
set xrange [0.8:*]
set xlabel "nodes"
set key bottom left

do for [what in "throughput user_us"] {
	set ylabel what eq "user_us" ? "user time of an operation, microseconds" : \
		"operations a second, all nodes"
	do for [w in workloads] {
		set title "YCSB ".(w eq "a" ? "A" : w eq "b" ? "B" : "C")
		plot for [i=1:words(kinds)] \
			sprintf("< awk -F'\\t' 'NR == 1 || ($1 == \"%s\" && $2 == \"%s\")' '%s'", \
				word(kinds, i), w, in) \
			using 3:(column(what eq "user_us" ? 5 : 4)) skip 1 \
			with linespoints lw 1.5 pt (6 + i) title word(kinds, i)
		set ylabel ""
		unset key
	}
}
unset multiplot
