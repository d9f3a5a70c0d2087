// SPDX-License-Identifier: MIT
// From words.json: sets of words, as types, and as lists where somebody reads them one by one.

import { head, isIn, jsDoc, pascal, upper, wrapped } from './languages.mjs';

/**
 * @typedef {object} Words
 * @property {string} name
 * @property {string} says
 * @property {string} [more]
 * @property {string} [prefix] of Go's constants
 * @property {string} [zero] the word that is empty in Go
 * @property {string} [package] of Go, if it is not the first
 * @property {string[]} words
 * @property {string} [in]
 * @property {string} [lists]
 */

const TYPED = 'js py go';
/** @type {(language: string, each: Words) => boolean} */
const isType = (language, { in: wanted = TYPED }) => isIn(language)({ in: wanted });
/** @type {(language: string, each: Words) => boolean} */
const isList = (language, { lists = '' }) => isIn(language)({ in: lists });

/** Such as EntryStatuses. @param {string} name */
const plural = (name) => name + (/(?:s|ch)$/.test(name) ? 'es' : 's');
/** @type {(each: Words) => string} */
const described = ({ says, more }) => `${says}${more ? `. ${more}` : ''}`;

/** @type {(all: Words[]) => string} */
const javascript = (all) => `${head.js}${all.filter((each) => isType('js', each) || isList('js', each)).map((each) => {
	const { name, words } = each;
	const union = words.map((word) => `'${word}'`).join(' | ');
	const type = isType('js', each) ? `\n${jsDoc(`@typedef {${union}} ${name} ${described(each)}`)}` : '';
	const of = isType('js', each) ? `@type {readonly ${name}[]}` : `@type {readonly string[]} each is ${described(each)}`;
	const list = isList('js', each) ? `\n${jsDoc(of)}export const ${upper(plural(name))} = [${words.map((word) => `'${word}'`).join(', ')}];\n` : '';
	return type + list;
}).join('')}`;

/** @type {(start: string, words: string[], end: string) => string} */
function pyWords(start, words, end) {
	const quoted = words.map((word) => `"${word}"`);
	const line = start + quoted.join(', ') + end;
	return line.length <= 112 ? `${line}\n` : `${start}\n${quoted.map((word) => `    ${word},\n`).join('')}${end}\n`;
}

/** @type {(all: Words[]) => string} */
const python = (all) => `${head.py}
from typing import Literal
${all.filter((each) => isType('py', each) || isList('py', each)).map((each) => {
	const { name, words } = each;
	const says = described(each).replace(/^./, (first) => first.toUpperCase());
	const type = isType('py', each) ? `\n${pyWords(`${name} = Literal[`, words, ']')}"""${wrapped(says.replace(/\.?$/, '.'), '', 112).trim()}"""\n` : '';
	const list = isList('py', each) ? `\n${pyWords(`${upper(plural(name))}: tuple[${isType('py', each) ? name : 'str'}, ...] = (`, words, ')')}` : '';
	return type + list + (list && !type ? `"""${wrapped(`Each is ${described(each)}`.replace(/\.?$/, '.'), '', 112).trim()}"""\n` : '');
}).join('')}`;

/** @type {(all: Words[], name: string) => string} */
const go = (all, inPackage) => `${head.go}package ${inPackage}
${all.filter((each) => (each.package ?? 'urlmode') === inPackage && (isType('go', each) || isList('go', each))).map((each) => {
	const { name, words, prefix = '', zero } = each;
	const names = words.map((word) => prefix + pascal(word.replaceAll('-', '_')));
	const list = name[0].toLowerCase() + plural(name).slice(1);
	const width = Math.max(...names.map(({ length }) => length));
	const comment = `${name} is ${described(each)}`.replace(/\.?$/, '.').replaceAll('`', '"');
	const type = isType('go', each) ? `
${wrapped(comment, '// ')}type ${name} string

// The values of ${name}.
const (
${words.map((word, i) => `	${names[i].padEnd(width)} ${name} = ${word === zero ? `"" // also "${word}"` : `"${word}"`}\n`).join('')})
` : '';
	return type + (isList('go', each) ? `\n${wrapped(`${list} has them all: each is ${each.says}.`, '// ')}var ${list} = []string{${words.map((word) => `"${word}"`).join(', ')}}\n` : '');
}).join('')}`;

/** @type {(all: Words[]) => string} */
const header = (all) => `${head.h}#ifndef UM_CONTRACT_WORDS_H
#define UM_CONTRACT_WORDS_H
${all.filter((each) => isType('c', each)).map(({ name, says, words }) => `
/* ${says} */
#define UM_${upper(name)}_WORDS ${words.map((word) => `"${word}"`).join(', ')}
`).join('')}
#endif
`;

/** @type {(data: { words: Words[] }) => Record<string, string>} */
export const files = ({ words }) => ({
	'lib/node/src/core/contract-words.js': javascript(words),
	'lib/python/src/urlmode/_core/contract_words.py': python(words),
	'lib/go/contract_words.go': go(words, 'urlmode'),
	'lib/go/vault/contract_words.go': go(words, 'vault'),
	'lib/contract/words.h': header(words),
});
