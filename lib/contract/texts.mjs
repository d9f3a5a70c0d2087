// SPDX-License-Identifier: MIT
// From texts.json: the texts that more than one language has. A text with places is a function in JavaScript and Python, and a format of
// printf in Go and C, whose compilers check what it is given.

import { camel, filled, goLocal, head, isIn, pascal, placesOf, pyText, snake, upper, wrapped } from './languages.mjs';

/**
 * @typedef {object} Text
 * @property {string} name
 * @property {string} text
 * @property {string} [in]
 * @property {'commands'} [room] whose file has it, if it is not core
 * @property {Record<string, string>} [c] what printf takes for a place
 * @property {string} [sh] the files of the shell that have it
 */

const SDKS = 'js py go';
const INTEGER = /\{(\w+):int\}/g;

/** What a language has of a text: its members by their names there, and the places without their types. */
function of(language, member, texts) {
	return texts.filter(({ in: wanted = SDKS }) => isIn(language)({ in: wanted })).map(({ name, text, c = {} }) => {
		const integers = new Set([...text.matchAll(INTEGER)].map(([, place]) => place));
		return { name, c, integers, text: text.replaceAll(/\{\.(\w+)\}/g, (_, each) => member(each)).replaceAll(INTEGER, '{$1}') };
	});
}

/** @param {Text[]} texts */
const javascript = (texts) => `${head.js}
export const TEXTS = {
${of('js', camel, texts).map(({ name, text, integers }) => {
		const typed = placesOf(text).map((place) => `@param {${integers.has(place) ? 'number' : 'string'}} ${camel(place)}`);
		const comment = typed.length > 1 ? `	/**\n${typed.map((each) => `	 * ${each}\n`).join('')}	 */\n` : typed.map((each) => `	/** ${each} */\n`).join('');
		return `${comment}	${camel(name)}: ${typed.length > 0 ? `(${placesOf(text).map(camel).join(', ')}) => ` : ''}${filled.js(text)},\n`;
	}).join('')}};
`;

/** @param {Text[]} texts */
const python = (texts) => `${head.py}${of('py', snake, texts).map(({ name, text, integers }) => (placesOf(text).length === 0 ? `\n${upper(name)} = ${pyText(text, '')}\n`
	: `\n\ndef ${snake(name)}(${placesOf(text).map((place) => `${snake(place)}: ${integers.has(place) ? 'int' : 'str'}`).join(', ')}) -> str:\n    return ${pyText(text, '    ')}\n\n`))
	.join('').replaceAll(/\n{4,}/g, '\n\n\n').replace(/\n+$/, '\n')}`;

/** A literal with a verb for each place. @type {(text: string, verb: (place: string) => string) => string} */
const format = (text, verb) => JSON.stringify(text.replaceAll(/\{(\w+)\}/g, (_, place) => verb(place)));

/** @type {(place: string, integers: Set<string>) => string} */
const verb = (place, integers) => (integers.has(place) ? '%d' : '%s');

/**
 * @typedef {object} Help
 * @property {string} name of the command
 * @property {string} usage
 * @property {string[]} says
 * @property {Record<string, string>} options
 * @property {string} [status]
 */

/** What stays together in a line. */
const UNBROKEN = '\u00a0';
/** @type {(text: string, first: string, others?: string) => string} in lines of a terminal */
const paragraph = (text, first, others = '') => wrapped(text, ' '.repeat(others.length), 80).replace(/^ */, first).replaceAll(UNBROKEN, ' ');

/** @type {(program: string, help: Help) => string} */
function helpOf(program, { name, usage, says, options, status }) {
	const start = `usage: ${program} ${name} `;
	const width = Math.max(...Object.keys(options).map(({ length }) => length));
	return [
		paragraph(usage.replaceAll(/ (?!\[)/g, UNBROKEN), start, start),
		...says.map((each) => paragraph(each, '')),
		Object.entries(options).map(([option, text]) => paragraph(text, `  ${option.padEnd(width)}  `, ' '.repeat(width + 4))).join(''),
		...status ? [paragraph(status, 'Status: ', ' '.repeat('Status: '.length))] : [],
	].join('\n');
}

/** @param {Help[]} helps */
const jsHelps = (helps) => helps.map((help) => `\nexport const ${upper(help.name)}_HELP = \`${helpOf('urlmode', help)}\`;\n`).join('');
/** @param {Help[]} helps */
const pyHelps = (helps) => helps.map((help) => `\n${upper(help.name)}_HELP = """${helpOf('python -m urlmode', help)}"""\n`).join('');

/** @param {Text[]} texts */
function goPackage(texts) {
	const all = of('go', pascal, texts);
	const width = Math.max(...all.map(({ name }) => pascal(name).length));
	return `${head.go}// Package texts has what this module says in the same words as other languages: texts, and formats for those with places.
package texts

const (
${all.map(({ name, text, integers }) => `	${pascal(name).padEnd(width)} = ${format(text, (place) => verb(place, integers))}\n`).join('')})
`;
}

/** @param {Text[]} texts */
const goCommand = (texts) => `${head.go}package main
${of('go', pascal, texts).map(({ name, text, integers }) => `\nconst ${goLocal(name)} = ${format(text, (place) => verb(place, integers))}\n`).join('')}`;

/** @param {Text[]} texts */
const header = (texts) => `${head.h}#ifndef UM_CONTRACT_TEXTS_H
#define UM_CONTRACT_TEXTS_H

${of('c', snake, texts).map(({ name, text, integers, c }) => `#define UM_TEXT_${upper(name)} ${format(text, (place) => c[place] ?? verb(place, integers))}\n`).join('')}
#endif
`;

/** @type {(limits: { name: string, value: number }[]) => (text: string) => string} */
function withValues(limits) {
	const values = new Map(limits.map(({ name, value }) => [name, String(value)]));
	return (text) => text.replaceAll(/\{(\w+)\}/g, (place, name) => values.get(name) ?? place);
}

/** A text with places is a function of the shell. @param {Text} text */
function shell({ name, text }) {
	const places = placesOf(text);
	if (places.length === 0) return `text_${name}='${text.replaceAll("'", "'\\''")}'\n`;
	const quoted = text.replaceAll(/["$`\\]/g, '\\$&').replaceAll(/\{(\w+)\}/g, (_, place) => `$${places.indexOf(place) + 1}`);
	return `# text_${name} ${places.map(upper).join(' ')}\ntext_${name}()\n{\n\tprintf '%s\\n' "${quoted}"\n}\n`;
}

/** @type {(data: { texts: Text[], helps: Help[] }, limits: { limits: { name: string, value: number }[] }) => Record<string, string>} */
export function files({ texts, helps: given }, { limits }) {
	const withLimits = withValues(limits);
	const made = texts.map((each) => ({ ...each, text: withLimits(each.text) }));
	const helps = given.map((each) => ({ ...each, says: each.says.map(withLimits) }));
	const core = made.filter(({ room }) => !room);
	const commands = made.filter(({ room }) => room === 'commands');
	return {
		'lib/node/src/core/contract-texts.js': javascript(core),
		'lib/node/src/commands/contract-texts.js': javascript(commands) + jsHelps(helps),
		'lib/python/src/urlmode/_core/contract_texts.py': python(core),
		'lib/python/src/urlmode/_commands/contract_texts.py': python(commands) + pyHelps(helps),
		'lib/go/internal/texts/texts.go': goPackage(core),
		'lib/go/cmd/urlmode/contract_texts.go': goCommand(commands),
		'lib/contract/texts.h': header(made),
	};
}

const PLACE = /(^# contract: texts\n)[^]*?(?=^# end\n)/m;

/**
 * Files of the shell with their texts.
 *
 * @param {{ texts: Text[] }} data
 * @param {{ limits: { name: string, value: number }[] }} limits
 * @param {(file: string) => string} textOf
 * @returns {Record<string, string>}
 */
export function inShell({ texts }, { limits }, textOf) {
	const withLimits = withValues(limits);
	const wanted = texts.filter(({ sh }) => sh);
	return Object.fromEntries([...new Set(wanted.flatMap(({ sh }) => sh.split(' ')))].map((file) => {
		if (!PLACE.test(textOf(file))) throw new Error(`${file} has no place for texts`);
		const own = wanted.filter(({ sh }) => sh.split(' ').includes(file)).map((each) => shell({ ...each, text: withLimits(each.text.replaceAll(INTEGER, '{$1}')) }));
		return [file, textOf(file).replace(PLACE, (_, start) => start + own.join(''))];
	}));
}
