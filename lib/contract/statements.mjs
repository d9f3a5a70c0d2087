// SPDX-License-Identifier: MIT
// From statements.json: statements of SQL that more than one language sends beside calls of functions, and names of channels.

import { head, isIn, jsDoc, pascal, upper, wrapped } from './languages.mjs';

/** @typedef {{ name: string, text: string, says: string, in?: string }} Statement */

const SDKS = 'js py go';

/** @param {Statement[]} statements */
const javascript = (statements) => `${head.js}${statements.map(({ name, text, says }) => `
${jsDoc(says)}export const ${upper(name)} = ${text.includes("'") || text.length > 90 ? `\`${wrapped(text, '\t').trim()}\`` : `'${text}'`};
`).join('')}`;

/** @param {Statement[]} statements */
const python = (statements) => `${head.py}${statements.map(({ name, text: given, says }) => {
	const text = given.replaceAll(/\$\d/g, '%s');
	return `
${text.length < 90 ? `${upper(name)} = "${text}"` : `${wrapped(`${upper(name)} = """${text}`, '    ', 112).trim()}"""`}
"""${wrapped(says, '', 112).trim()}"""
`;
}).join('')}`;

/** @param {Statement[]} statements */
const go = (statements) => `${head.go}// Package statements has what this module sends to PostgreSQL in the same words as other languages.
package statements

const (
${statements.map(({ name, text, says }) => `${wrapped(`${pascal(name)}: ${says}`, '\t// ')}	${pascal(name)} = \`${text}\`\n`).join('')})
`;

/** @param {Statement[]} statements */
const header = (statements) => `${head.h}#ifndef UM_CONTRACT_STATEMENTS_H
#define UM_CONTRACT_STATEMENTS_H

${statements.map(({ name, text, says }) => `/* ${says} */\n#define UM_SQL_${upper(name)} ${JSON.stringify(text)}\n`).join('')}
#endif
`;

/** @type {(data: { statements: Statement[] }) => Record<string, string>} */
export function files({ statements }) {
	const of = (/** @type {string} */ language) => statements.filter(({ in: wanted = SDKS }) => isIn(language)({ in: wanted }));
	return {
		'lib/node/src/core/contract-statements.js': javascript(of('js')),
		'lib/python/src/urlmode/_core/contract_statements.py': python(of('py')),
		'lib/go/internal/statements/statements.go': go(of('go')),
		'lib/contract/statements.h': header(of('c')),
	};
}
