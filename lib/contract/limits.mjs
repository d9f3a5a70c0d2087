// SPDX-License-Identifier: MIT
// From limits.json: the times, sizes, defaults and codes, as constants of each language.

import { head, isIn, jsDoc, pascal, upper, wrapped } from './languages.mjs';

/**
 * @typedef {object} Limit
 * @property {string} name its unit is in it, where it has one: _ms, _s
 * @property {number} value
 * @property {string} says
 * @property {string} [in] the packages that want it, if not all do
 * @property {string} [c] its name in C, whose times are in seconds where it ends with _S
 * @property {Record<string, string[]>} [also] file or folder → texts with the value at {}, {s}, {days} or {MiB}, which are written there
 */

const isTime = ({ name }) => name.endsWith('_ms');
const grouped = (value) => (Number.isInteger(value) && value >= 0 ? String(value).replaceAll(/\B(?=(\d{3})+$)/g, '_') : String(value));

const javascript = (limits) => `${head.js}
${limits.map(({ name, value, says }) => `${jsDoc(says)}export const ${upper(name)} = ${grouped(value)};\n`).join('')}`;

/** Times are in seconds in Python. */
function pyConstant({ name, value, says }) {
	const seconds = value / 1_000;
	const [constant, text] = isTime({ name }) ? [`${upper(name).replace(/_MS$/, '_S')}`, grouped(seconds)]
		: [upper(name), grouped(value)];
	return `${wrapped(says, '# ', 112)}${constant} = ${text}\n`;
}

const python = (limits) => `${head.py}
${limits.map(pyConstant).join('')}`;

const UNITS = [['Hour', 3_600_000], ['Minute', 60_000], ['Second', 1_000], ['Millisecond', 1]];

function goConstant({ name, value, says }) {
	const constant = pascal(isTime({ name }) ? name.replace(/_ms$/, '') : name);
	const [unit, size] = UNITS.find(([, ms]) => value % ms === 0) ?? [];
	return `${wrapped(`${constant}: ${says}`, '\t// ')}	${constant} = ${isTime({ name }) ? `${grouped(value / size)} * time.${unit}` : grouped(value)}\n`;
}

const go = (limits) => `${head.go}// Package limits has the times, sizes and defaults that this module has in common with other languages.
package limits

import "time"

const (
${limits.map(goConstant).join('')})
`;

const header = (limits) => `${head.h}#ifndef UM_CONTRACT_LIMITS_H
#define UM_CONTRACT_LIMITS_H

${limits.filter((limit) => limit.c).map(({ c, name, value, says }) => `/* ${says} */\n#define ${c} ${isTime({ name }) && c.endsWith('_S') ? value / 1_000 : value}\n`).join('')}
#endif
`;

export const files = ({ limits }) => ({
	'lib/node/src/core/contract-limits.js': javascript(limits.filter(isIn('js'))),
	'lib/python/src/urlmode/_core/contract_limits.py': python(limits.filter(isIn('py'))),
	'lib/go/internal/limits/limits.go': go(limits.filter(isIn('go'))),
	'lib/contract/limits.h': header(limits),
});

/** What stands for a value in a text of `also`, and how many of the limit's units it has. */
const UNITS_OF = { '{}': 1, '{s}': 1_000, '{days}': 86_400_000, '{MiB}': 1_048_576 };

/**
 * Files that are written by hand, with the values of `also` in them.
 *
 * @param {{ limits: Limit[] }} data
 * @param {(place: string) => Map<string, string>} textsIn the files of a place, and their texts
 * @returns {Map<string, string>}
 */
export function alsoIn({ limits }, textsIn) {
	const found = new Map();
	for (const { name, value, also = {} } of limits) {
		for (const [place, texts] of Object.entries(also)) {
			for (const text of texts) {
				const [start, mark, end] = text.split(/(\{\w*\})/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'));
				const number = new RegExp(`(?<=${start})\\d+(?!\\d)(?=${end})`, 'g');
				const files = [...textsIn(place)].map(([file, own]) => [file, found.get(file) ?? own]).filter(([, own]) => own.search(number) >= 0);
				if (files.length === 0) throw new Error(`${name}: nothing in ${place} is as ${text}`);
				for (const [file, own] of files) found.set(file, own.replaceAll(number, String(value / UNITS_OF[mark])));
			}
		}
	}
	return found;
}
