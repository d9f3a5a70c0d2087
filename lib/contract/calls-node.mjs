// SPDX-License-Identifier: MIT
// The calls of Node. A record has its names in camel case; a row has those of SQL, because it is not copied.

import { camel, head, upper, wrapped } from './languages.mjs';
import { mayBeNull, partsOf, statement } from './calls-common.mjs';

const TYPES = { uuid: 'string', text: 'string', bytea: 'Buffer', boolean: 'boolean', bigint: 'string', integer: 'number', smallint: 'number',
	timestamptz: 'Date', jsonb: 'unknown' };

/**
 * A number of eight bytes can be given as a number, but it is read as a text.
 *
 * @type {(value: import('./calls-common.mjs').Value, types: Record<string, any>, isRead: boolean) => string}
 */
function typeOf({ type, isList, isSeconds, words, ...value }, types, isRead) {
	let text = isSeconds ? 'string' : TYPES[type];
	if (!isRead && type === 'bigint') text = 'number | string';
	if (words) text = Array.isArray(words) ? words.map((word) => `'${word}'`).join(' | ') : types[words].js;
	if (isList) text = `${text}[]`;
	return mayBeNull(value) ? `${text} | null` : text;
}

/** @type {(value: import('./calls-common.mjs').Value) => string} */
const said = ({ says, isSeconds }) => (isSeconds ? ' Unix seconds with a fraction' : says ? ` ${says.replaceAll('NULL', 'null')}` : '');

/** @type {(name: string, values: import('./calls-common.mjs').Value[], types: Record<string, any>, isRead: boolean) => string} */
const record = (name, values, types, isRead) => `
/**
 * @typedef {object} ${name}
${values.map((value) => ` * @property {${typeOf(value, types, isRead)}} ${isRead ? value.name : camel(value.name)}${said(value)}\n`).join('')} */
`;

/** @param {string[]} items @param {string} indent */
const list = (items, indent) => (indent.length + items.join(', ').length < 110 ? `[${items.join(', ')}]`
	: `[\n${items.map((item) => `${indent}	${item},\n`).join('')}${indent}]`);

/** @type {(value: import('./calls-common.mjs').Value) => string} */
function valueOf({ name, type, isArray }) {
	const own = camel(name);
	const text = type === 'jsonb' ? `${own} && JSON.stringify(${own})` : own;
	return isArray ? `all.map(({ ${own} }) => ${text})` : text;
}

/** @type {(call: import('./calls-common.mjs').Call, types: Record<string, any>) => string} */
function caller(call, types) {
	const { name, takes, gives, answer, columns, value } = call;
	const { members, single } = partsOf(call);
	const constant = upper(name);
	const sql = statement(call, (_, n) => `$${n}`, (column) => (column.name === '' ? `${column.sql} AS answer`
		: column.isSeconds ? `extract(epoch FROM ${column.sql}) AS ${column.sql}` : column.sql));
	const text = sql.length < 110 ? `'${sql}'` : `\`${wrapped(sql, '\t').trim()}\``;
	const gave = value ? typeOf(value, types, true) : columns.length === 1 && !gives ? typeOf(columns[0], types, true) : gives ?? 'void';
	const returns = { rows: `${/\|/.test(gave) ? `(${gave})` : gave}[]`, row: gave, 'row or none': `${gave} | undefined`, value: gave, nothing: 'void' }[answer];
	const asked = `query(${constant}, ${list(call.parameters.map(valueOf), '\t')}${call.reads ? ', true' : ''})`;
	const body = {
		rows: gives ? `	return /** @type {Promise<never>} */ (${asked});`
			: `	const rows = await ${asked};\n	return /** @type {never} */ (rows.map(({ ${columns[0]?.name} }) => ${columns[0]?.name}));`,
		row: `	const [row] = await ${asked};\n	return /** @type {never} */ (row);`,
		'row or none': `	const [row] = await ${asked};\n	return /** @type {never} */ (row);`,
		value: `	const [row] = await ${asked};\n	return /** @type {never} */ (row?.answer);`,
		nothing: `	await ${asked};`,
	}[answer];
	const given = [
		{ type: 'Query', own: 'query' }, ...members.length > 0 ? [{ type: `${takes}[]`, own: 'all' }] : [],
		...single.length > 0 ? [{ type: 'object', own: 'values', as: `{ ${single.map((one) => camel(one.name)).join(', ')} }` }] : [],
	];
	const params = [
		...given.map(({ type, own }) => `{${type}} ${own}`), ...single.map((one) => `{${typeOf(one, types, false)}} values.${camel(one.name)}${said(one)}`),
	];
	return `
const ${constant} = ${text};

/**
${params.map((param) => ` * @param ${param}\n`).join('')} * @returns {Promise<${returns}>}
 */
export ${answer === 'rows' && gives ? '' : 'async '}function ${camel(name)}(${given.map(({ own, as }) => as ?? own).join(', ')}) {
${body}
}
`;
}

/** The type that all these files have in common. */
const QUERY = `/**
 * Sends a statement. \`reads\`: its function only reads, so that it can be sent once more if its connection was lost before the
 * answer came. Any other is sent again only if it is certain that it was not sent.
 *
 * @typedef {(text: string, values: unknown[], reads?: boolean) => Promise<Record<string, unknown>[]>} Query
 */`;
const queryOf = (module) => `/** @typedef {import('${module}').Query} Query */`;

/** @type {(calls: import('./calls-common.mjs').Call[], types: Record<string, any>, room: string) => string} */
export function javascript(calls, types, room) {
	const written = new Set();
	const once = (name, text) => (!name || written.has(name) ? '' : (written.add(name), text));
	return `${head.js}// The functions of the schema urlmode that an MCP server may call.

${room === 'core' ? QUERY : queryOf(room === 'vault' ? '../core/contract-calls.js' : './contract-calls.js')}
${calls.map((call) => once(call.takes, record(call.takes ?? '', partsOf(call).members, types, false))
		+ once(call.gives, record(call.gives ?? '', call.columns, types, true)) + caller(call, types)).join('')}`;
}
