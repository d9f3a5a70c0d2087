// SPDX-License-Identifier: MIT
// What the generator knows of each language: names, texts, comments.

const MARK = 'Generated from lib/contract by `make contract`: change it there.';

/** The first lines of a generated file, by its ending. */
export const head = {
	js: `// ${MARK}\n`,
	py: `"""${MARK}"""\n\nfrom __future__ import annotations\n`,
	go: `// Code generated from lib/contract by make contract. DO NOT EDIT.\n\n// SPDX-License-Identifier: MIT\n\n`,
	h: `/* ${MARK} */\n/* SPDX-License-Identifier: MIT */\n/* clang-format off */\n`,
};

/** Whether a language wants what a line of the data describes: all want it, if `in` does not name those that do. */
export const isIn = (language) => ({ in: wanted = 'js py go c' }) => wanted.split(' ').includes(language);

/** @param {string} name as in `createdAt` or `created_at` */
const words = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split('_').filter(Boolean);
export const snake = (name) => words(name).join('_');
export const upper = (name) => snake(name).toUpperCase();
export const camel = (name) => words(name).map((word, i) => (i === 0 ? word : word[0].toUpperCase() + word.slice(1))).join('');

/** Words that Go writes in capitals. */
const CAPITALS = new Set(['id', 'ids', 'url', 'ms', 'ttl', 'json', 'oauth', 'http', 'https', 'ascii', 'pkce', 'rpc']);
export const pascal = (name) => words(name).map((word) => (CAPITALS.has(word) ? word.toUpperCase().replace(/^IDS$/, 'IDs').replace(/^OAUTH$/, 'OAuth')
	: word[0].toUpperCase() + word.slice(1))).join('');
export const goLocal = (name) => pascal(name).replace(/^([A-Z]+)(?=[A-Z][a-z]|s?$)|^[A-Z]/, (start) => start.toLowerCase());

/**
 * A text in lines of a width, each with a prefix.
 *
 * @param {string} text
 * @param {string} prefix
 * @param {number} [width] of a line
 */
export function wrapped(text, prefix, width = 120) {
	const lines = [''];
	for (const word of text.split(' ')) {
		const last = lines.at(-1);
		if (last && prefix.length + last.length + 1 + word.length > width) lines.push(word);
		else lines[lines.length - 1] = last ? `${last} ${word}` : word;
	}
	return lines.map((line) => prefix + line + '\n').join('');
}

/** A comment of JSDoc. @type {(text: string, indent?: string) => string} */
export const jsDoc = (text, indent = '') => (text.length + indent.length < 112 ? `${indent}/** ${text} */\n` : `${indent}/**\n${wrapped(text, `${indent} * `)}${indent} */\n`);

/** A docstring. */
export const pyDoc = (text, indent) => {
	const [first, ...others] = wrapped(text, indent, 112).trim().split('\n').map((line) => line.trim());
	return others.length === 0 ? `${indent}"""${first}"""\n` : `${indent}"""${[first, ...others.map((line) => indent + line)].join('\n')}\n${indent}"""\n`;
};

const js = (text) => `'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
const double = (text) => JSON.stringify(text);

/**
 * A text with places such as {id}, as an expression of each language. All values are strings.
 *
 * @type {Record<'js' | 'py' | 'go', (text: string) => string>}
 */
export const filled = {
	js: (text) => (/\{\w+\}/.test(text) ? `\`${text.replaceAll(/[\\`]/g, '\\$&').replaceAll(/\{(\w+)\}/g, (_, name) => `\${${camel(name)}}`)}\`` : js(text)),
	py: (text) => (/\{\w+\}/.test(text) ? `f${double(text.replaceAll(/\{(\w+)\}/g, (_, name) => `{${snake(name)}}`))}` : double(text)),
	go: (text) => text.split(/(\{\w+\})/).filter(Boolean).map((part) => (/^\{\w+\}$/.test(part) ? goLocal(part.slice(1, -1)) : double(part))).join(' + '),
};

/** The places of a text, in their order. */
export const placesOf = (text) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))];

/** @param {string[]} takes */
export const jsParameters = (takes, indent) => (takes.length === 1 ? `${indent}/** @param {string} ${camel(takes[0])} */\n`
	: takes.length > 1 ? `${indent}/**\n${takes.map((name) => `${indent} * @param {string} ${camel(name)}\n`).join('')}${indent} */\n` : '');

/** A text in pieces of about a width, each of which ends after a space, or after the end of a paragraph. */
function pieces(text, width) {
	const made = [''];
	for (const [token] of text.matchAll(/[^ \n]*(?: |\n+|$)/g)) {
		if (made.at(-1).endsWith('\n') || made.at(-1).length + token.trimEnd().length > width) made.push('');
		made[made.length - 1] += token;
	}
	return made.filter(Boolean);
}

/** A literal of Python, in more than one line if it is long. */
export const pyText = (text, indent, parentheses = ['', '']) => (indent.length + filled.py(text).length < 110 - parentheses.join('').length
	? parentheses[0] + filled.py(text) + parentheses[1]
	: `(\n${pieces(text, 96).map((piece) => `${indent}    ${filled.py(piece)}\n`).join('')}${indent})`);

/** Texts without places as constants, and those with places as functions: their names end with `_text`. */
export const textsOf = {
	/** @type {(texts: Record<string, string>, indent?: string) => string} the members of an object */
	js: (texts) => Object.entries(texts).map(([name, text]) => (placesOf(text).length === 0 ? `	${camel(name)}: ${filled.js(text)},\n`
		: `${jsParameters(placesOf(text), '\t')}	${camel(name)}: (${placesOf(text).map(camel).join(', ')}) => ${filled.js(text)},\n`)).join(''),
	/** @type {(texts: Record<string, string>) => string} */
	py: (texts) => Object.entries(texts).map(([name, text]) => (placesOf(text).length === 0 ? `\n${upper(name)} = ${pyText(text, '')}\n`
		: `\n\ndef ${snake(name)}_text(${placesOf(text).map((place) => `${snake(place)}: str`).join(', ')}) -> str:\n    return ${pyText(text, '    ')}\n`)).join(''),
	/** @type {(texts: Record<string, string>) => string} */
	go: (texts) => Object.entries(texts).map(([name, text]) => (placesOf(text).length === 0 ? `\nconst ${camel(name)}Text = ${filled.go(text)}\n`
		: `\nfunc ${camel(name)}Text(${placesOf(text).map(goLocal).join(', ')} string) string {\n\treturn ${filled.go(text)}\n}\n`)).join(''),
};
