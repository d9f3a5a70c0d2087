// SPDX-License-Identifier: MIT
// The calls of Go: each is a statement, how a struct becomes the values of its parameters, and how a row is read.
// What is NULL and means as much as zero is zero. Otherwise it is a pointer.

import { camel, head, pascal, wrapped } from './languages.mjs';
import { mayBeNull, partsOf, statement } from './calls-common.mjs';

const TYPES = { uuid: 'string', text: 'string', bytea: '[]byte', boolean: 'bool', bigint: 'int64', integer: 'int', smallint: 'int16',
	timestamptz: 'time.Time', jsonb: 'string' };
/** What pgx sends for them, where PostgreSQL needs another type. */
const SENT = { uuid: 'text', jsonb: 'text', integer: 'bigint' };
const ZEROS = { text: "''", boolean: 'false', bigint: '0', integer: '0', smallint: '0', uuid: "''", jsonb: "''" };

/** What stands for NULL. */
const NONE = { string: 'empty', int: 'zero', int64: 'zero', int16: 'zero' };

const KEYS = { urlmode: ['rowKey', ['id', 'binding']], vault: ['place', ['subject', 'provider', 'account']] };

/** The name of a field. */
const field = (name) => (name === 'id' ? name : camel(name).replaceAll(/(?:Id|Url)(?=[A-Z]|$)/g, (word) => word.toUpperCase()));
const type = (name) => name[0].toLowerCase() + name.slice(1);

/**
 * A text is NULL if it is empty, and bytes are if they are nil.
 *
 * @type {(value: import('./calls-common.mjs').Value, types: Record<string, any>, isRead: boolean) => string}
 */
function typeOf(value, types, isRead) {
	const plain = typeof value.words === 'string' ? types[value.words].go : TYPES[value.type];
	if (value.isList) return `[]${plain}`;
	const isNumber = !['string', '[]byte'].includes(TYPES[value.type]);
	const isPointer = isRead ? value.missing === 'unknown' || (value.missing && value.type === 'timestamptz') : mayBeNull(value) && isNumber;
	return isPointer ? `*${plain}` : plain;
}

/** Lines of a struct, as gofmt aligns them: those between two comments together. */
function fields(lines) {
	const made = [];
	for (let i = 0; i < lines.length;) {
		let end = i + 1;
		while (end < lines.length && !lines[end].says && lines[end].type) end += 1;
		const block = lines.slice(i, end);
		const width = Math.max(...block.map((line) => (line.type ? line.name.length : 0)));
		for (const { name, type: its, says } of block) made.push(`${says ? `	// ${says}\n` : ''}	${its ? `${name.padEnd(width)} ${its}` : name}\n`);
		i = end;
	}
	return made.join('');
}

/**
 * @param {string} name
 * @param {import('./calls-common.mjs').Value[]} values
 * @param {Record<string, any>} types
 * @param {boolean} isRead
 * @param {{ name: string, type?: string }[]} first its first fields
 */
function struct(name, values, types, isRead, first = []) {
	const all = values.map((value) => {
		const its = typeOf(value, types, isRead);
		return { name: field(value.name), type: its, says: value.says?.replaceAll('NULL', NONE[its] ?? 'nil') };
	});
	return `\ntype ${name} struct {\n${fields([...first, ...all])}}\n`;
}

/** An expression of the value that is sent. @type {(value: import('./calls-common.mjs').Value, of: string, types: Record<string, any>, isDigest: boolean) => string} */
function sent(value, of, types, isDigest) {
	const own = `${of}.${field(value.name)}`;
	if (isDigest) return `${own}[:]`;
	const text = typeof value.words === 'string' && types[value.words].go !== 'string' ? `string(${own})` : own;
	return mayBeNull(value) && TYPES[value.type] === 'string' ? `orNull(${text})` : text;
}

/** @type {(value: import('./calls-common.mjs').Value) => string} */
function sentType(value) {
	if (mayBeNull(value) && TYPES[value.type] === 'string') return '*string';
	return mayBeNull(value) && value.type !== 'bytea' ? `*${TYPES[value.type]}` : TYPES[value.type];
}

/** @type {(call: import('./calls-common.mjs').Call, types: Record<string, any>, name: 'urlmode' | 'vault') => { text: string, takes: string, gives: string }} */
function caller(call, types, name) {
	const { takes, gives, columns, value, isBatch } = call;
	const { members, single } = partsOf(call);
	const [key, keyNames] = KEYS[name];
	const isKeyed = (values) => keyNames.every((own) => values.some((one) => one.name === own && !mayBeNull(one)));
	const keyOf = (values) => (isKeyed(values) ? [{ name: key }] : []);
	const restOf = (values) => values.filter((one) => !(isKeyed(values) && keyNames.includes(one.name)));
	const isDigest = (one, values) => one.name === 'binding' && key === 'rowKey' && isKeyed(values);

	const sql = statement(call, (one, n) => {
		const list = one.isArray || one.isList ? '[]' : '';
		return `$${n}::${SENT[one.type] ? `${SENT[one.type]}${list}::` : ''}${one.type}${list}`;
	}, (column) => {
		const text = ['uuid', 'jsonb'].includes(column.type) ? `${column.sql}::text` : column.sql;
		const isZero = column.missing && column.missing !== 'unknown' && !column.isList && ZEROS[column.type];
		return isZero ? `coalesce(${text}, ${ZEROS[column.type]})` : text;
	});

	const element = takes && type(takes);
	const valuesName = `${camel(call.name)}Values`;
	const argument = isBatch && single.length === 0 ? `[]${element}` : single.length === 0 ? 'struct{}' : valuesName;
	const all = single.length === 0 ? 'all' : 'of.all';
	const values = call.parameters.map((one) => (one.isArray
		? `column(${all}, func(r ${element}) ${sentType(one)} { return ${sent(one, 'r', types, isDigest(one, members))} })`
		: sent(one, 'of', types, isDigest(one, single))));
	const isOneLine = !isBatch && values.join(', ').length < 100;
	const body = values.length === 0 ? 'nil' : isOneLine ? `[]any{${values.join(', ')}}` : `[]any{\n${values.map((one) => `\t\t\t${one},\n`).join('')}\t\t}`;

	const alone = value ?? columns[0];
	const row = gives ? type(gives) : alone ? typeOf(alone, types, true) : 'struct{}';
	const read = gives ? `func(from pgx.CollectableRow) (r ${row}, err error) {
		err = from.Scan(${wrapped(columns.map((column) => `&r.${field(column.name)}`).join(', '), '\t\t\t', 118).trim()})
		return r, err
	}` : row === 'struct{}' ? 'internals.Nothing' : `pgx.RowTo[${row}]`;
	return {
		takes: !isBatch || element === 'rowKey' ? '' : struct(element, restOf(members), types, false, keyOf(members)),
		gives: (single.length > 0 ? struct(valuesName, restOf(single), types, false, isBatch ? [{ name: 'all', type: `[]${element}` }] : keyOf(single)) : '')
			+ (gives ? struct(row, columns, types, true) : ''),
		text: `
var sql${pascal(call.name)} = internals.${call.reads ? 'ReadingOf' : 'StatementOf'}(
	\`${wrapped(sql, '\t\t', 130).trim()}\`,
	func(${values.length === 0 ? '_' : single.length === 0 ? 'all' : 'of'} ${argument}) []any {
		return ${body}
	},
	${read},
)
`,
	};
}

/** @type {(calls: import('./calls-common.mjs').Call[], types: Record<string, any>, name: 'urlmode' | 'vault') => string} */
export function go(calls, types, name) {
	const body = calls.map((call) => {
		const { takes, gives, text } = caller(call, types, name);
		return takes + gives + text;
	}).join('');
	return `${head.go}package ${name}

import (
${body.includes('time.Time') ? '\t"time"\n\n' : ''}	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)
${body}`;
}
