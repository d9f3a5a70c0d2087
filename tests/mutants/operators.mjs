// Small mistakes in a text of C, JavaScript or SQL: one mistake each. Comments and texts in
// quotation marks stay as they are.

const COMMON = [
	[/(?<=\s)<(?=\s)/g, '<='], [/(?<=\s)<=(?=\s)/g, '<'], [/(?<=\s)>(?=\s)/g, '>='], [/(?<=\s)>=(?=\s)/g, '>'],
	[/\btrue\b/g, 'false'], [/\bfalse\b/g, 'true'],
	[/(?<=\s)\+(?=\s)/g, '-'], [/(?<=\s)-(?=\s)/g, '+'], [/(?<=[\s(])\d+\b(?![.'])/g, (number) => `${Number(number) + 1}`],
];

const LIKE_C = [
	...COMMON, [/&&/g, '||'], [/\|\|(?!=)/g, '&&'], [/(?<=\s)[!=]==?(?=\s)/g, (sign) => `${sign[0] === '!' ? '=' : '!'}${sign.slice(1)}`],
	[/(?<=[\s(])!(?=[\w(])/g, ''],
	// A call whose answer is not used.
	[/(?<=[;{}]\s*)(?:await )?[\w.>#-]+\([^;{}]*\);/g, ';'],
];

const OPERATORS = {
	c: LIKE_C,
	js: [...LIKE_C, [/\?\?(?!=)/g, '||']],
	sql: [
		...COMMON, [/\bAND\b/g, 'OR'], [/\bOR\b(?! REPLACE)/g, 'AND'], [/(?<=\s)=(?=\s)/g, '<>'], [/(?<=\s)<>(?=\s)/g, '='],
		[/\bIS NULL\b/g, 'IS NOT NULL'], [/\bIS NOT NULL\b/g, 'IS NULL'], [/\bNOT EXISTS\b/g, 'EXISTS'], [/(?<!NOT )\bEXISTS\b/g, 'NOT EXISTS'],
		[/\bgreatest\b/g, 'least'], [/\bleast\b/g, 'greatest'], [/\bDESC\b/g, ''], [/PERFORM [^;]*;/g, 'NULL;'], [/\bmin\(/g, 'max('], [/\bmax\(/g, 'min('],
	],
};

const HIDDEN = {
	c: /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^#[^\n]*/gm,
	js: /\/\*[^]*?\*\/|(?<![:'"`])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|^import[^;]*;/gm,
	sql: /--[^\n]*|'(?:''|[^'])*'/g,
};

/**
 * @param {string} text
 * @param {'c' | 'js' | 'sql'} language
 * @returns {{ at: number, before: string, after: string }[]}
 */
export function mistakesIn(text, language) {
	// Replaced by as many spaces, so that places stay.
	const code = text.replaceAll(HIDDEN[language], (hidden) => hidden.replaceAll(/[^\n]/g, ' '));
	return OPERATORS[language].flatMap(([pattern, after]) => [...code.matchAll(pattern)].map(({ 0: found, index }) => ({
		at: index, before: text.slice(index, index + found.length), after: typeof after === 'string' ? after : after(found),
	})));
}

/** The text with this mistake. */
export function withMistake(text, { at, before, after }) {
	return text.slice(0, at) + after + text.slice(at + before.length);
}

/** The number of the line, and the line with the mistake. */
export function placeOf(text, mistake) {
	const start = text.lastIndexOf('\n', mistake.at) + 1;
	const changed = withMistake(text, mistake);
	return { line: text.slice(0, start).split('\n').length, shown: changed.slice(start).split('\n')[0].trim() };
}
