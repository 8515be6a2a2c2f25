#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
#
# The layers of what is in folders, as the table of a document has them:
#
#	layers.awk docs/kernel.md kmod/FOLDER/FILE...
#	layers.awk tools/memd/README.md tools/memd/FOLDER/FILE...
#
# - A row of the table is | `FOLDER` | `OTHER`, ... | what |: the folders that it may
#   use, all of them in rows above.
# - A file includes headers of its own folder and of those, by "FOLDER/FILE.h"; the core of
#   kmod/, which user space compiles too, includes its own by "FILE.h", and no other folder's.
#   Programs include those of the core and of uapi/ so, too, and tools/common/ by its path.
# - A function that is not static is declared in the header with the name of its file.  So
#   what a file includes is what it calls.
# - No files call each other in a circle of more than two.

function complain(what)
{
	print what
	bad = 1
}

# The words in backquotes of a cell, into list[1..n].
function quoted(cell, list,	n)
{
	n = 0
	while (match(cell, /`[a-z]+`/)) {
		list[++n] = substr(cell, RSTART + 1, RLENGTH - 2)
		cell = substr(cell, RSTART + RLENGTH)
	}
	return n
}

FILENAME == ARGV[1] {
	if (!/^\| `[a-z]+` \|/)
		next
	split($0, cell, "|")
	quoted(cell[2], name)
	if (name[1] in row)
		next	# of another table
	n = quoted(cell[3], other)
	for (i = 1; i <= n; i++) {
		if (!(other[i] in row))
			complain(ARGV[1] ": " name[1] " uses " other[i] ", which is in no row above")
		may[name[1], other[i]] = 1
	}
	may[name[1], name[1]] = 1
	row[name[1]] = 1
	next
}

FNR == 1 {
	n = split(FILENAME, part, "/")
	folder = part[n - 1]
	unit = folder "/" part[n]
	root = FILENAME
	sub(/\/[^\/]*\/[^\/]*$/, "", root)
	sub(/\.[ch]$/, "", unit)
	units[unit] = 1
	used[folder] = 1
	if (!(folder in row) && !(folder in told)) {
		told[folder] = 1
		complain(root "/" folder " is in no row of the table of layers in " ARGV[1])
	}
}

/^#include "/ {
	header = $2
	gsub(/"/, "", header)
	if (header !~ /\//) {
		# uapi, or in the core one of its own
		if (folder == "core" && header !~ /^weft/)
			header = "core/" header
		else
			next
	} else if (root != "kmod" && header ~ /^tools\/common\//) {
		next
	} else if (folder == "core") {
		complain(FILENAME ": the core includes \"" header "\"")
	}
	split(header, part, "/")
	if (!((folder, part[1]) in may))
		complain(FILENAME ": includes \"" header "\", which " folder " may not use")
	other_unit = header
	sub(/\.h$/, "", other_unit)
	if (other_unit != unit)
		edge[unit, other_unit] = 1
}

# Where functions are declared, and defined.
/^[a-z_][A-Za-z0-9_ ]*[ *][a-z0-9_]+\(/ && !/^(static|extern|typedef|return|else|int main)[ (]/ {
	text = $0
	sub(/\(.*/, "", text)
	sub(/.*[^a-z0-9_]/, "", text)
	if (FILENAME ~ /\.h$/)
		declared[unit, text] = 1
	else
		defined[unit SUBSEP text] = FILENAME
}

function visit(u,	v, w)
{
	index_of[u] = low[u] = ++visits
	stack[++depth] = u
	waiting[u] = 1
	for (v in units) {
		if (!((u, v) in edge))
			continue
		if (!(v in index_of)) {
			visit(v)
			if (low[v] < low[u])
				low[u] = low[v]
		} else if ((v in waiting) && index_of[v] < low[u]) {
			low[u] = index_of[v]
		}
	}
	if (low[u] != index_of[u])
		return
	circle = ""
	members = 0
	do {
		w = stack[depth--]
		delete waiting[w]
		circle = circle " " w
		members++
	} while (w != u)
	if (members > 2)
		complain("a circle of " members " files that include each other:" circle)
}

END {
	for (f in row)
		if (!(f in used))
			complain(ARGV[1] ": there is no " root "/" f)
	n = 0
	for (f in defined) {
		n++
		if (!(f in declared)) {
			split(f, part, SUBSEP)
			complain(defined[f] ": " part[2] "() is not declared in " part[1] ".h")
		}
	}
	for (u in units)
		if (!(u in index_of))
			visit(u)
	if (!n)
		complain("no functions in what is to have the layers of " ARGV[1])
	exit bad
}
