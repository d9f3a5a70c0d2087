// SPDX-License-Identifier: MIT
// From seals.json: the uses of the keys, the labels of digests, and the table of sealed values.

import { head, pascal, upper } from './languages.mjs';

/** Every constant, as [name, value]. */
const constants = ({ nonce_bytes: nonce, tag_bytes: tag, digest_bytes: digest, ticket_cookie: cookie, values, digests }) => [
	['nonce_bytes', nonce], ['tag_bytes', tag], ['digest_bytes', digest], ['ticket_cookie', cookie],
	...values.map(({ name, info }) => [`${name}_info`, info]), ...digests.map(({ name, label }) => [`${name}_label`, label]),
];

/** Their names in C, where they are older than this file. */
const IN_C = { nonce_bytes: 'UM_NONCE_LEN', tag_bytes: 'UM_TAG_LEN', digest_bytes: 'UM_DIGEST_LEN' };

const lines = (seals, line) => constants(seals).map(([name, value]) => line(name, value)).join('');

export const files = (seals) => ({
	'lib/node/src/core/contract-seals.js': `${head.js}
/** @typedef {${seals.values.map(({ info }) => `'${info}'`).join(' | ')}} Use */

${lines(seals, (name, value) => `export const ${upper(name)} = ${typeof value === 'string' ? `'${value}'` : value};\n`)}`,
	'lib/python/src/urlmode/_core/contract_seals.py': `${head.py}
${lines(seals, (name, value) => `${upper(name)} = ${JSON.stringify(value)}\n`)}`,
	'lib/go/internal/seals/seals.go': `${head.go}// Package seals has the uses of the keys, and the labels of digests.
package seals

const (
${lines(seals, (name, value) => `	${pascal(name).padEnd(18)} = ${JSON.stringify(value)}\n`)})
`,
	'lib/contract/seals.h': `${head.h}#ifndef UM_CONTRACT_SEALS_H
#define UM_CONTRACT_SEALS_H

${lines(seals, (name, value) => `#define ${IN_C[name] ?? `UM_${upper(name)}`} ${JSON.stringify(value)}\n`)}
#endif
`,
});

/** The table of PROTOCOL.md. */
export const tables = ({ values }) => ({
	seals: `| value | salt | info | context | plaintext |\n|---|---|---|---|---|\n${values.filter((value) => value.plaintext)
		.map((row) => `| ${row.value} | ${row.salt} | \`${row.info}\`${row.and ? ` ${row.and}` : ''} | ${row.context} | ${row.plaintext} |\n`).join('')}`,
});
