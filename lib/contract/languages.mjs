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

/** @param {string} name as in `createdAt` or `created_at` */
const words = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split('_').filter(Boolean);
export const snake = (name) => words(name).join('_');
export const upper = (name) => snake(name).toUpperCase();
export const camel = (name) => words(name).map((word, i) => (i === 0 ? word : word[0].toUpperCase() + word.slice(1))).join('');

/** Words that Go writes in capitals. */
const CAPITALS = new Set(['id', 'ids', 'url', 'ms', 'ttl', 'json', 'oauth', 'http']);
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
