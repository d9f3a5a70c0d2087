# Makes a manual page of its PAGE.in, at the top of the tree. Three lines of it
# stand for what is written elsewhere:
#
#   @usage NAME            the first lines of `urlmode help NAME`
#   @help NAME             the rest of it
#   @table HEADING|REGEX   the rows of a table of nginx/CONFIGURATION.md whose
#                          first cell matches

BEGIN {
	document = "nginx/CONFIGURATION.md"
	print ".\\\" SPDX-License-Identifier: MIT"
}

/^@usage / { usage($2); next }
/^@help / { help($2); next }
/^@table / { split(substr($0, 8), part, "|"); table(part[1], part[2]); next }
!/^\.\\" SPDX/ { print }

# Text of a document, for roff: no macro at its beginning, code in bold.
function roff(text,   out)
{
	gsub(/\\/, "\\e", text)
	while (match(text, /\[[^\]]*\]\([^)]*\)/)) {
		out = substr(text, RSTART + 1, index(substr(text, RSTART), "](") - 2)
		text = substr(text, 1, RSTART - 1) out substr(text, RSTART + RLENGTH)
	}
	while (match(text, /`[^`]*`/))
		text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fR" \
			substr(text, RSTART + RLENGTH)
	gsub(/-/, "\\-", text)
	sub(/^[.']/, "\\\\\\&&", text)
	return text
}

# One sentence a line, as roff wants it.
function sentences(text,   end)
{
	while ((end = match(text, /[.!?:] [A-Z]/)) != 0) {
		print roff(substr(text, 1, end))
		text = substr(text, end + 2)
	}
	print roff(text)
}

function ask(name)
{
	return "nginx/command/urlmode help " name
}

function usage(name,   line)
{
	while ((ask(name) | getline line) > 0 && line != "") {
		sub(/^(usage: |       )/, "", line)
		print roff(line)
	}
	close(ask(name))
}

function flush_text()
{
	if (text == "")
		return
	if (after_blank && !in_list)
		print ".Pp"
	sentences(text)
	text = ""
	after_blank = 0
}

function end_list()
{
	flush_text()
	if (in_list)
		print ".El"
	in_list = 0
}

function help(name,   line, term)
{
	text = ""
	in_list = after_blank = 0
	while ((ask(name) | getline line) > 0 && line != "")
		;
	while ((ask(name) | getline line) > 0) {
		if (line == "") {
			end_list()
			after_blank = 1
		} else if (line ~ /^  [^ ].*[^ ]  /) {
			flush_text()
			if (!in_list)
				print ".Bl -tag -width Ds"
			in_list = 1
			sub(/^  /, "", line)
			term = line
			sub(/  .*/, "", term)
			print ".It " roff(term)
			text = substr(line, length(term) + 1)
			sub(/^ +/, "", text)
		} else if (line ~ /^  [^ ]/) {
			flush_text()
			print ".Dl " roff(substr(line, 3))
		} else {
			sub(/^ +/, "", line)
			text = text (text == "" ? "" : " ") line
		}
	}
	end_list()
	close(ask(name))
}

# Cells are `name`, type, default, effect; or `name`, meaning.
function table(heading, pattern,   line, here, cell, n, more)
{
	here = 0
	print ".Bl -tag -width Ds"
	while ((getline line < document) > 0) {
		if (line ~ /^#/)
			here = line ~ ("^#+ " heading "$")
		if (!here || line !~ /^\| [^|]/ || line ~ /^\| (key|\|)/)
			continue
		gsub(/^\| | \|$/, "", line)
		n = split(line, cell, / \| /)
		if (cell[1] !~ pattern)
			continue
		gsub(/`|PROGRAM /, "", cell[1])
		print ".It " roff(cell[1])
		sentences(cell[n])
		if (n == 4) {
			more = cell[3] == "required" ? "required" : "default: " cell[3]
			print ".br"
			print roff("(" cell[2] "; " more ")")
		}
	}
	close(document)
	print ".El"
}
