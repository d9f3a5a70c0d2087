# SPDX-License-Identifier: MIT
# Makes C of the languages, a file for each: TEXT(DE, DONE, "…") for each text on
# standard output, which lib/http/text.c includes, and into the file `names` the
# lists of languages and texts for lib/http/text.h. A text is a line; the one
# escape in it is \", which means the same to C.

FNR == 1 {
	code = FILENAME
	gsub(/.*\/|\.json$/, "", code)
	languages = languages " X(" toupper(code) ", \"" code "\")"
}

/^\t"[a-z_]+": "([^"\\]|\\")*",?$/ {
	split($0, quoted, "\"")
	name = toupper(quoted[2])
	text = $0
	sub(/^\t"[a-z_]+": /, "", text)
	sub(/,$/, "", text)
	print "TEXT(" toupper(code) ", " name ", " text ")"
	if (code == "en") {
		all = all " X(" name ")"
	}
	next
}

!/^[{}]?$/ {
	print FILENAME ":" FNR ": is not a line \"name\": \"text\"," >"/dev/stderr"
	failed = 1
}

END {
	print "#define UM_LANGUAGES(X)" languages >names
	print "#define UM_TEXTS(X)" all >names
	exit failed
}
