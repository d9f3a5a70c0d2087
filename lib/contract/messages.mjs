// SPDX-License-Identifier: MIT
// From messages.json: the words for the user and the model.

import { camel, filled, head, pyText, textsOf, upper } from './languages.mjs';

const javascript = ({ tables, texts }) => `${head.js}
${Object.entries(tables).map(([name, table]) => `export const ${upper(name)} = {\n${Object.entries(table)
		.map(([key, text]) => `	${key}: ${filled.js(text)},\n`).join('')}};\n`).join('\n')}
export const TEXTS = {
${textsOf.js(texts)}};
`;

const python = ({ tables, texts }) => `${head.py}${Object.entries(tables).map(([name, table]) => `
${upper(name)} = {
${Object.entries(table).map(([key, text]) => `    "${key}": ${pyText(text, '    ')},\n`).join('')}}
`).join('')}${textsOf.py(texts)}`;

const go = ({ tables, texts }) => `${head.go}package adapter
${Object.entries(tables).map(([name, table]) => `
var ${camel(name)}Texts = map[string]string{
${Object.entries(table).map(([key, text]) => `	${`"${key}":`.padEnd(2 + Math.max(...Object.keys(table).map((each) => each.length)) + 1)} ${filled.go(text)},\n`).join('')}}
`).join('')}${textsOf.go(texts)}`;

export const files = (messages) => ({
	'lib/node/src/adapters/contract-messages.js': javascript(messages),
	'lib/python/src/urlmode/_adapters/contract_messages.py': python(messages),
	'lib/go/adapter/contract_messages.go': go(messages),
});
