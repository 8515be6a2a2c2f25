# SPDX-License-Identifier: GPL-2.0-only
#
# Plots histograms, of nodes and of programs, beside each other:
#
#	{ weftctl -j stats latency; weft-kvs bench FILE -j; } | weft-bench hist >table
#	gnuplot -e "in='table'; out='hist.svg'" tools/bench/hist.gp
#
# What part of the times (upwards) is shorter than so long (to the right).  The end of the
# output's name, .svg or .png, says what it becomes.

if (!exists("in")) in = "table"
if (!exists("out")) out = "hist.svg"

if (out[strlen(out)-3:] eq ".png") {
	set terminal pngcairo size 900,480 font "sans,10"
} else {
	set terminal svg size 900,480 font "sans,10" background "white"
}
set output out
set datafile separator "\t"

stats in using 1:2 skip 1 nooutput name "TABLES"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set key bottom right
set logscale x
set xlabel "shorter than, microseconds"
set ylabel "part of all"
set yrange [0:1]
plot for [i = 0:TABLES_blocks - 1] in index i using ($1 / 1e3):3 \
	with linespoints lw 1.5 title columnheader(1)
