# SPDX-License-Identifier: GPL-2.0-only
#
# The numbers of a JSON document, one a line: "path value", the path with dots.
# Members of arrays count from 0.  Enough of JSON for what weftctl prints.

function skip_space()
{
	while (at <= length(text) && substr(text, at, 1) ~ /[ \t\r\n]/)
		at++
}

function string(    out, c)
{
	at++
	while (at <= length(text) && (c = substr(text, at, 1)) != "\"") {
		if (c == "\\")
			c = substr(text, ++at, 1)
		out = out c
		at++
	}
	at++
	return out
}

function value(path,    c, key, n, token)
{
	skip_space()
	c = substr(text, at, 1)
	if (c == "{" || c == "[") {
		at++
		skip_space()
		for (n = 0; at <= length(text) && substr(text, at, 1) !~ /[]}]/; n++) {
			key = n
			if (c == "{") {
				key = string()
				skip_space()
				at++
			}
			value(path == "" ? key : path "." key)
			skip_space()
			if (substr(text, at, 1) == ",")
				at++
			skip_space()
		}
		at++
	} else if (c == "\"") {
		string()
	} else {
		token = ""
		while (at <= length(text) && substr(text, at, 1) !~ /[],} \t\r\n]/)
			token = token substr(text, at++, 1)
		if (token ~ /^-?[0-9]/)
			print path, token
	}
}

{
	text = text $0 "\n"
}

END {
	at = 1
	value("")
}
