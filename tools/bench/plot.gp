# SPDX-License-Identifier: GPL-2.0-only
#
# Plots a table of results as weft-bench tsv prints it:
#
#	gnuplot -e "in='results.tsv'; out='bench.svg'" tools/bench/plot.gp
#
# Left: all ratios with what they should reach; right: random read misses a
# second against the number of threads.  The end of the output's name, .svg or
# .png, says what it becomes.

if (!exists("in")) in = "results.tsv"
if (!exists("out")) out = "bench.svg"

if (out[strlen(out)-3:] eq ".png") {
	set terminal pngcairo size 1100,480 font "sans,10"
} else {
	set terminal svg size 1100,480 font "sans,10" background "white"
}
set output out
set datafile separator "\t"
set datafile missing "-"

# Rows that belong to a plot become 1, others are not drawn.
ratio(unit) = (unit eq "ratio") ? 1 : NaN
randread(bench) = (bench eq "randread") ? 1 : NaN
threads(label) = real(label[9:])

stats in using (ratio(stringcolumn(6)) * column(3)) skip 1 name "RATIO" nooutput
stats in using (randread(stringcolumn(1)) * column(3)) skip 1 name "READ" nooutput

set multiplot layout 1,2
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror

set title "Ratios (line: what should be reached)"
set style fill solid 0.8
set boxwidth 0.6
set yrange [0:*]
set xtics rotate by -25
row = -1
name(bench, label, unit) = (unit eq "ratio") ? bench." ".label : ""
rows = int(RATIO_records)
if (rows > 0) {
	ratios = sprintf("< awk -F'\\t' 'NR == 1 || $6 == \"ratio\"' '%s'", in)
	set xrange [-0.6:rows - 0.4]
	plot ratios using 0:3:xtic(stringcolumn(1)." ".stringcolumn(2)) skip 1 \
		with boxes lc rgb "#4477aa" notitle, \
	     ratios using 0:3:4:5 skip 1 with yerrorbars ps 0 lw 1.5 lc rgb "#222222" notitle, \
	     ratios using ($0 - 0.4):7:(0.8):(0) skip 1 \
		with vectors nohead lw 2.5 lc rgb "#cc3311" notitle
} else {
	set label 1 "no ratios in this table" at graph 0.5,0.5 center
	plot [0:1] NaN notitle
	unset label 1
}

set title "Random 4 KiB read misses"
set xlabel "threads"
set ylabel "pages a second"
set xtics norotate
set autoscale x
if (READ_records > 0) {
	reads = sprintf("< awk -F'\\t' 'NR == 1 || $1 == \"randread\"' '%s'", in)
	set xrange [0.8:*]
	set logscale x 2
	plot reads using (threads(stringcolumn(2))):3:4:5 skip 1 \
		with yerrorlines pt 7 lw 1.5 lc rgb "#4477aa" notitle
} else {
	set label 1 "no random reads in this table" at graph 0.5,0.5 center
	plot [0:1] NaN notitle
}
unset multiplot
