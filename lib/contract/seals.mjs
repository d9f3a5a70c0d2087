// SPDX-License-Identifier: MIT
// From seals.json: the uses of the keys, the labels of digests, and the table of sealed values.

import { head, isIn, pascal, upper } from './languages.mjs';

const all = ({ constants, values, digests }) => [
	...constants, ...values.map((row) => ({ ...row, name: `${row.name}_info`, value: row.info })),
	...digests.map((row) => ({ ...row, name: `${row.name}_label`, value: row.label })),
];

/** What a language wants, as it writes each. @type {(seals: any, language: string, line: (name: string, value: string | number, c?: string) => string) => string} */
const lines = (seals, language, line) => all(seals).filter(isIn(language)).map(({ name, value, c }) => line(name, value, c)).join('');

export const files = (seals) => ({
	'lib/node/src/core/contract-seals.js': `${head.js}
/** @typedef {${seals.values.filter(isIn('js')).map(({ info }) => `'${info}'`).join(' | ')}} Use */

${lines(seals, 'js', (name, value) => `export const ${upper(name)} = ${typeof value === 'string' ? `'${value}'` : value};\n`)}`,
	'lib/python/src/urlmode/_core/contract_seals.py': `${head.py}
${lines(seals, 'py', (name, value) => `${upper(name)} = ${JSON.stringify(value)}\n`)}`,
	'lib/go/internal/seals/seals.go': `${head.go}// Package seals has the uses of the keys, and the labels of digests.
package seals

const (
${lines(seals, 'go', (name, value) => `	${pascal(name).padEnd(Math.max(...all(seals).filter(isIn('go')).map((each) => pascal(each.name).length)))} = ${JSON.stringify(value)}\n`)})
`,
	'lib/contract/seals.h': `${head.h}#ifndef UM_CONTRACT_SEALS_H
#define UM_CONTRACT_SEALS_H

${lines(seals, 'c', (name, value, c = `UM_${upper(name)}`) => `#define ${c} ${JSON.stringify(value)}\n`)}
#endif
`,
});

/** The table of PROTOCOL.md. */
export const tables = ({ values }) => ({
	seals: `| value | salt | info | context | plaintext |\n|---|---|---|---|---|\n${values.filter((value) => value.plaintext)
		.map((row) => `| ${row.value} | ${row.salt} | \`${row.info}\`${row.and ? ` ${row.and}` : ''} | ${row.context} | ${row.plaintext} |\n`).join('')}`,
});
