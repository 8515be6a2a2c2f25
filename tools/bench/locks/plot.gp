# SPDX-License-Identifier: GPL-2.0-only
#
# Plots a table as locks.sh makes it:
#
#	gnuplot -e "in='table.tsv'; out='locks.svg'; locks='weft mcs'; shares='0 95'" \
#		tools/bench/locks/plot.gp
#
# A column for each share of readers; above: coherence transactions of a lock and
# its data, below: how long that takes on average, against the number of nodes.
# The end of the output's name, .svg or .png, says what it becomes.

if (!exists("in")) in = "table.tsv"
if (!exists("out")) out = "locks.svg"
if (!exists("locks")) locks = "weft central mcs pernode cohort service"
if (!exists("shares")) shares = "0 50 95 100"

n = words(shares)
width = 120 + 290 * n
if (out[strlen(out)-3:] eq ".png") {
	set terminal pngcairo size width,640 font "sans,10"
} else {
	set terminal svg size width,640 font "sans,10" background "white"
}
set output out
set datafile separator "\t"
set datafile missing "-"

set multiplot layout 2,n columnsfirst
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set logscale x 2
set xrange [0.9:*]
set key top left font ",8"
set xlabel "nodes"

rows(lock, share) = sprintf("< awk -F'\\t' '$1 == \"%s\" && $3 == %s' '%s'", lock, share, in)

do for [s = 1:n] {
	share = word(shares, s)
	set title sprintf("%s %% readers", share)
	unset logscale y
	set yrange [0:*]
	set ylabel "transactions per lock and data"
	plot for [i = 1:words(locks)] rows(word(locks, i), share) using 2:5 \
		with linespoints pt i lw (i == 1 ? 3 : 1.5) title word(locks, i)
	set title ""
	set logscale y
	set autoscale y
	set ylabel "mean time to lock and data, us"
	plot for [i = 1:words(locks)] rows(word(locks, i), share) using 2:16 \
		with linespoints pt i lw (i == 1 ? 3 : 1.5) notitle
}
unset multiplot
