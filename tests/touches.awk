#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
#
# Which tests a change of files touches, for tests/touches.sh:
#
#	touches.awk FILES SUITES MADE SOURCES TABLE WANTED
#
# FILES: those of the tree.  SUITES: "NAME LIST COMMAND".  MADE, SOURCES: "TARGET: WHAT...".
# TABLE: tests/touches.  WANTED: the files that have changed.  For each of these, lines
# "FILE NAME LIST".  With -v check=1 instead what is wrong: files that touch no test, tests that
# no file touches, and rows of the table that say nothing.

# uses USER WHAT: a change of WHAT is one of USER.
function uses(user, what)
{
	if (user != what && !((user, what) in known)) {
		known[user, what] = 1
		users[what] = users[what] "\002" user
	}
}

# like TEXT PATTERN: * matches everything.
function like(text, pattern)
{
	gsub(/[.+]/, "\\\\&", pattern)
	gsub(/\*/, ".*", pattern)
	return text ~ ("^" pattern "$")
}

function folder(path)
{
	return sub(/\/[^\/]*$/, "", path) ? path : "."
}

function last(path)
{
	sub(/.*\//, "", path)
	return path
}

# word USER HOME TEXT SCRIPT: a word that USER, in the folder HOME, has in its text; of a program
# only paths of programs count: the rest are messages.
function word(user, home, text, script,    path, name, i, n, list)
{
	name = last(text)
	if (text !~ /\//) {
		if (script && name ~ /^weft/ && name in programs)
			uses(user, programs[name])
		return
	}
	if (match(name, /[$*{]/)) {
		# a family of programs, or of files
		name = substr(name, 1, RSTART - 1)
		if (name ~ /^[a-z]+-/ && text ~ /(bin|tests)\/[^\/]*$/)
			for (i in programs)
				if (substr(i, 1, length(name)) == name)
					uses(user, programs[i])
		if (script && match(text, /(tests|tools|p4|uapi|kmod|docs)\/[a-z0-9-]+\/[^$*{]*/)) {
			path = substr(text, RSTART, RLENGTH)
			for (i in files)
				if (substr(i, 1, length(path)) == path)
					uses(user, i)
		}
		return
	}
	if (name in programs && (script || text ~ /(bin|tests|lib)\/[^\/]*$/))
		uses(user, programs[name])
	if (!script)
		return
	if ((home "/" name) in files)
		uses(user, home "/" name)
	path = text
	sub(/^\.\//, "", path)
	while (path ~ /\//) {
		if (path in files) {
			uses(user, path)
			return
		}
		sub(/^[^\/]*\//, "", path)
	}
}

function words(user, home, text, script,    n, i, list)
{
	n = split(text, list, /[^A-Za-z0-9_.\/$*{}+-]+/)
	for (i = 1; i <= n; i++)
		if (length(list[i]) > 3)
			word(user, home, list[i], script)
}

# read_text FILE: what a script, or a program in its strings, names.
function read_text(file,    line, script, home)
{
	home = folder(file)
	script = file !~ /\.[ch]$/
	while ((getline line <file) > 0) {
		if (script ? line ~ /^[ \t]*#/ : line ~ /^[ \t]*(\/?\*|#include)/)
			continue
		words(file, home, line, script)
	}
	close(file)
}

FILENAME != current {
	current = FILENAME
	part++
}

part == 1 {
	files[$0] = 1
	next
}

part == 2 {
	suite[$1] = $2
	order[++suites] = $1
	commands[$1] = $0
	sub(/^[^ ]+ +[^ ]+ +/, "", commands[$1])
	next
}

part == 3 || part == 4 {
	target = $1
	sub(/:$/, "", target)
	name = last(target)
	# What is made is known by its name, however it is compiled.
	if (part == 3 && name !~ /\.[oa]$/) {
		programs[name] = "program " name
		target = programs[name]
	}
	if (part == 4)
		built[target] = 1
	for (i = 2; i <= NF; i++)
		if (part == 3 && $i ~ /\.o$/ && $i !~ /\/fuzz\//)	# those need clang
			needed[$i] = 1
	for (i = 2; i <= NF; i++)
		if ($i !~ /^\// || $i ~ /\.o$/)
			uses(target, $i ~ /\.so(\.[0-9]+)?$/ ? "program " last($i) : $i)
	next
}

part == 5 {
	if ($0 !~ /^[ \t]*(#|$)/) {
		row[++rows] = $1
		for (i = 2; i <= NF && $i !~ /^#/; i++)
			by[rows] = by[rows] " " $i
	}
	next
}

{
	wanted[++wants] = $0
}

# table: what tests/touches says.
function table(    r, n, i, j, f, list)
{
	for (r = 1; r <= rows; r++) {
		n = split(by[r], list, " ")
		if (row[r] == "*") {
			for (i = 1; i <= n; i++)
				for (j = 1; j <= suites; j++)
					if (like(order[j], list[i])) {
						always[order[j]] = 1
						named[r, i] = 1
					}
			matched[r] = 1
		}
		for (f in files) {
			if (row[r] == "*" || !like(f, row[r]))
				continue
			matched[r] = 1
			for (i = 1; i <= n; i++) {
				if (list[i] == "-")
					nothing[f] = 1
				else if (list[i] in files)
					uses(list[i], f)
				else
					for (j = 1; j <= suites; j++)
						if (like(order[j], list[i])) {
							named[r, i] = 1
							uses("test " order[j], f)
						}
				if (list[i] == "-" || list[i] in files)
					named[r, i] = 1
			}
		}
		for (i = 1; i <= n; i++)
			if (!matched[r] || !((r, i) in named)) {
				print "tests/touches: " row[r] ": " (matched[r] ? \
					"there is no file and no test " list[i] : \
					"there is no such file") >"/dev/stderr"
				bad = 1
			}
	}
}

# reach FROM: marks all who use it, by way of others.
function reach(from,    queue, head, tail, n, i, list)
{
	split("", reached)
	queue[tail = 1] = from
	reached[from] = 1
	for (head = 1; head <= tail; head++) {
		n = split(users[queue[head]], list, "\002")
		for (i = 2; i <= n; i++)
			if (!(list[i] in reached)) {
				reached[list[i]] = 1
				queue[++tail] = list[i]
			}
	}
}

# tests_of FILE AS: print those that it touches, for AS; whether there is more than what every
# file touches.
function tests_of(file, as,    j, found)
{
	reach(file)
	for (j = 1; j <= suites; j++)
		if (("test " order[j]) in reached || order[j] in always) {
			print as, order[j], suite[order[j]]
			if (!(order[j] in always))
				found = 1
		}
	return found || file in nothing
}

# untouched: complain of files that touch no test, and tests that no file touches, but what
# every file does.
function untouched(    f, j)
{
	for (f in files) {
		reach(f)
		found = f in nothing
		for (j = 1; j <= suites; j++)
			if (("test " order[j]) in reached) {
				touched[order[j]] = 1
				found = 1
			}
		if (!found) {
			print f ": touches no test"
			bad = 1
		}
	}
	for (j = 1; j <= suites; j++)
		if (!(order[j] in touched) && !(order[j] in always)) {
			print order[j] ": no file touches it"
			bad = 1
		}
}

END {
	for (o in needed)
		if (!(o in built)) {
			print "tests/run: nobody knows yet of what " o " is made: make long-programs" \
				>"/dev/stderr"
			exit 1
		}
	for (f in files)
		if (f ~ /^(tests|tools|p4|\.ci)\// && f !~ /^tests\/(list|touches)/ &&
				f !~ /\/man\/|\.(p4|spec)$/)
			read_text(f)
	for (j = 1; j <= suites; j++)
		words("test " order[j], ".", commands[order[j]], 1)
	table()
	if (bad)
		exit 1
	if (check) {
		untouched()
		exit bad
	}
	for (w = 1; w <= wants; w++)
		if (!tests_of(wanted[w], wanted[w]))
			# new, gone, or a folder
			for (f in files)
				if (folder(f) == folder(wanted[w]) || index(f, wanted[w] "/") == 1)
					tests_of(f, wanted[w])
}
