// SPDX-License-Identifier: MIT
// Writes the table by which names are folded, sql/functions/016_fold.sql, from the Unicode data of this Node.js:
//
//     node lib/contract/folding.mjs
//
// It is no part of `make contract`, because another Node.js may have another version of Unicode. A newer version adds
// characters and changes none.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE = 'sql/functions/016_fold.sql';

// Characters that nobody sees, though Unicode counts them neither as format characters nor as ignorable.
const ALSO_UNSEEN = new Map(Object.entries({
	0x2800: 'BRAILLE PATTERN BLANK',
	0xFFFC: 'OBJECT REPLACEMENT CHARACTER',
	0x1107F: 'BRAHMI NUMBER JOINER',
	0x16FE4: 'KHITAN SMALL SCRIPT FILLER',
	0x1D159: 'MUSICAL SYMBOL NULL NOTEHEAD',
}).map(([code, name]) => [Number(code), name]));

const codes = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xD800 || code > 0xDFFF);
const codeOf = (character) => character.codePointAt(0);
const isIgnorable = (character) => /\p{Default_Ignorable_Code_Point}/u.test(character);

/** Whether folding removes the character. @param {number} code */
export const isUnseen = (code) => ALSO_UNSEEN.has(code) || /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(String.fromCodePoint(code));

/** The full case folding of a character (CaseFolding.txt), which JavaScript has only for regular expressions. @param {string} character */
function caseFoldingOf(character) {
	const code = codeOf(character);
	if (code === 0x131) return character; // The dotless i has no other case.
	if (code >= 0x13A0 && code <= 0x13F5) return character; // Cherokee is folded to its capitals.
	if (code >= 0x13F8 && code <= 0x13FD) return String.fromCodePoint(code - 8);
	if (code >= 0xAB70 && code <= 0xABBF) return String.fromCodePoint(code - 0xAB70 + 0x13A0);
	if (character === 'ẞ') return 'ss';
	return [...character.toUpperCase()].map((upper) => upper.toLowerCase()).join('').replaceAll('ς', 'σ');
}

const foldCase = (text) => [...text].map(caseFoldingOf).join('');

/** NFKC_Casefold of a character (DerivedNormalizationProps.txt says how it is derived). @param {string} character */
export function nfkcCasefold(character) {
	let text = character;
	for (;;) {
		const next = [...foldCase(foldCase(text.normalize('NFD')).normalize('NFKC')).normalize('NFKC')].filter((one) => !isIgnorable(one)).join('');
		if (next === text) return text;
		text = next;
	}
}

const inJson = (text) => text.replace(/[^ -~]|['"\\]/gsu, (one) => [...Array(one.length).keys()]
	.map((n) => `\\u${one.charCodeAt(n).toString(16).toUpperCase().padStart(4, '0')}`).join(''));
const inClass = (code) => code > 0xFFFF ? `\\U${code.toString(16).toUpperCase().padStart(8, '0')}` : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;

/** Of what a name has when it is decomposed and has nothing unseen: each character that is folded, and to what. */
const folding = codes.filter((code) => !isUnseen(code)).map((code) => String.fromCodePoint(code))
	.filter((one) => one.normalize('NFD') === one && nfkcCasefold(one) !== one).map((one) => [one, nfkcCasefold(one)]);

function rangesOf(numbers) {
	const ranges = [];
	for (const code of numbers) {
		if (ranges.at(-1)?.[1] === code - 1) ranges.at(-1)[1] = code;
		else ranges.push([code, code]);
	}
	return ranges;
}

/** Lines of at most 120 characters. */
function lines(parts, separator) {
	return parts.reduce((all, part) => {
		if (`${all.at(-1)}${separator}${part}`.length > 120) all.push(part);
		else all[all.length - 1] += `${all.at(-1) && separator}${part}`;
		return all;
	}, ['']);
}

const unseen = rangesOf(codes.filter(isUnseen)).map((range) => [...new Set(range)].map(inClass).join('-'));

const alsoUnseen = [...ALSO_UNSEEN].map(([code, name]) => `U+${code.toString(16).toUpperCase()} ${name}`).join(', ');

const sql = `-- How names are folded (016_form). Written by ../../lib/contract/folding.mjs from Unicode ${process.versions.unicode}.

CREATE OR REPLACE FUNCTION urlmode.unseen() RETURNS text
LANGUAGE sql IMMUTABLE AS $$
	SELECT '['
${lines(unseen, '').map((line) => `\t\t'${line}'`).join('\n')}
		']'
$$;
COMMENT ON FUNCTION urlmode.unseen IS
${lines(`Internal. Characters that nobody sees, for a regular expression: of Unicode ${process.versions.unicode} all format characters (Cf), what is ignorable (Default_Ignorable_Code_Point), and ${alsoUnseen}.`.split(' '), ' ').map((line) => `\t'${line}`).join(" '\n")}';

CREATE OR REPLACE FUNCTION urlmode.folding() RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
	SELECT '{
${lines(folding.map(([one, other]) => `"${inJson(one)}": "${inJson(other)}"`), ', ').join(',\n')}
	}'::jsonb
$$;
COMMENT ON FUNCTION urlmode.folding IS
	'Internal. NFKC_Casefold of Unicode ${process.versions.unicode}, of each character that it changes: of those that are seen, and that a '
	'decomposed text (NFD) has.';
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(path.join(fileURLToPath(new URL('../..', import.meta.url)), FILE), sql);
