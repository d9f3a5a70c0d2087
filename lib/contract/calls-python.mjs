// SPDX-License-Identifier: MIT
// The calls of Python: coroutines with keyword arguments. What a row or an account is identified by is one argument.

import { head, pascal, pyDoc, upper, wrapped } from './languages.mjs';
import { mayBeNull, partsOf, statement } from './calls-common.mjs';

const TYPES = { uuid: 'str', text: 'str', bytea: 'bytes', boolean: 'bool', bigint: 'int', integer: 'int', smallint: 'int', timestamptz: 'datetime', jsonb: 'Any' };
const ZEROS = { text: '""', boolean: 'False', bigint: '0', integer: '0', smallint: '0' };

/** What identifies a row or an account: the argument, its type, its members. */
const ROW_KEY = ['key', 'RowKey', ['id', 'binding']];
const PLACE = ['place', 'Place', ['subject', 'provider', 'account']];

/** @type {(value: import('./calls-common.mjs').Value, types: Record<string, any>) => string} */
function typeOf({ type, isList, words, ...value }, types) {
	let text = TYPES[type];
	if (words) text = Array.isArray(words) ? `Literal[${words.map((word) => `"${word}"`).join(', ')}]` : types[words].py;
	if (isList) text = `list[${text}]`;
	return mayBeNull(value) && text !== 'Any' ? `${text} | None` : text;
}

/** @type {(value: import('./calls-common.mjs').Value) => string} */
const said = ({ says = '' }) => says.replaceAll('NULL', 'None');

/** @type {(name: string, values: import('./calls-common.mjs').Value[], types: Record<string, any>, isPartly?: boolean) => string} */
function record(name, values, types, isPartly = false) {
	const first = isPartly ? values.findIndex(mayBeNull) : Infinity;
	const fields = values.map((value, i) => {
		const otherwise = i < first ? '' : ` = ${mayBeNull(value) ? 'None' : ZEROS[value.type]}`;
		return `    ${value.name}: ${typeOf(value, types)}${otherwise}\n${value.says ? pyDoc(said(value), '    ') : ''}`;
	});
	return `\n\nclass ${name}(NamedTuple):\n${fields.join('')}`;
}

const fits = (text) => text.length <= 112;
/** @type {(start: string, items: string[], end: string, indent: string) => string} */
const list = (start, items, end, indent) => (fits(indent + start + items.join(', ') + end) ? start + items.join(', ') + end
	: `${start}\n${items.map((item) => `${indent}    ${item},\n`).join('')}${indent}${end}`);

/** @type {(value: import('./calls-common.mjs').Value, of: string) => string} */
function valueOf({ name, type, isArray }, of) {
	const own = of ? `${of}.${name}` : name;
	const text = type === 'jsonb' ? `None if ${own} is None else json.dumps(${own})` : own;
	return isArray ? `[${text} for each in rows]` : text;
}

/** @type {(call: import('./calls-common.mjs').Call, types: Record<string, any>, room: string) => string} */
function caller(call, types, room) {
	const { name, takes, gives, answer, columns, value } = call;
	const { members, single } = partsOf(call);
	const [key, keyType, keyNames] = room === 'vault' ? PLACE : ROW_KEY;
	const isKeyed = keyNames.every((own) => single.some((one) => one.name === own && !mayBeNull(one)));
	const rest = single.filter((one) => !(isKeyed && keyNames.includes(one.name)));
	const sql = statement(call, ({ type, isArray, isList }) => `%s::${type}${isArray || isList ? '[]' : ''}`,
		({ sql: column, type }) => (type === 'uuid' ? `${column}::text` : column));
	const text = sql.length + name.length < 100 ? `${upper(name)} = "${sql}"` : `${wrapped(`${upper(name)} = """${sql}`, '    ', 112).trim()}"""`;
	const alone = value ?? (gives ? undefined : columns[0]);
	const hasWords = Array.isArray(alone?.words);
	const gave = hasWords ? `${pascal(name)}Answer` : alone ? typeOf(alone, types) : gives ?? 'None';
	const returns = { rows: `list[${gave}]`, row: gave, 'row or none': `${gave} | None`, value: gave, nothing: 'None' }[answer];
	const values = call.parameters.map((one) => valueOf(one, one.isArray ? 'each' : isKeyed && keyNames.includes(one.name) ? key : ''));
	const asked = list(`await query(${upper(name)}, [`, values, call.reads ? '], True)' : '])', '    ');
	const body = {
		rows: gives ? `    found = ${asked}\n    return [${gives}(*row) for row in found]` : `    found = ${asked}\n    return [answer for (answer,) in found]`,
		row: `    found = ${asked}\n    return ${gives}(*found[0])`,
		'row or none': `    found = ${asked}\n    return ${gives}(*found[0]) if found else None`,
		value: `    found = ${asked}\n    answer: ${gave} = found[0][0]\n    return answer`,
		nothing: `    ${asked}`,
	}[answer];
	const takesAll = [
		'query: Query', ...members.length > 0 ? [`rows: Sequence[${takes}]`] : [], ...isKeyed ? [`${key}: ${keyType}`] : [],
		...rest.length > 0 ? ['*', ...rest.map((one) => `${one.name}: ${typeOf(one, types)}`)] : [],
	];
	const says = rest.filter((one) => one.says).map((one) => `\`${one.name}\`: ${said(one)}.`).join(' ');
	return `

${hasWords && alone ? `${list(`${gave} = Literal[`, alone.words.map((word) => `"${word}"`), ']', '')}\n` : ''}${text}


${list(`async def ${name}(`, takesAll, `) -> ${returns}:`, '')}
${says ? pyDoc(says, '    ') : ''}${body}
`;
}

const QUERY = `

class Query(Protocol):
    """Sends a statement. \`reads\`: its function only reads, so that it can be sent once more if its connection was lost before
    the answer came. Any other is sent again only if it is certain that it was not sent."""

    def __call__(self, statement: str, values: Sequence[Any], reads: bool = False, /) -> Awaitable[list[tuple[Any, ...]]]: ...
`;

/** @type {(calls: import('./calls-common.mjs').Call[], types: Record<string, any>, room: string) => string} */
export function python(calls, types, room) {
	const written = new Set();
	const once = (name, text) => (!name || written.has(name) ? '' : (written.add(name), text));
	const body = calls.map((call) => once(call.takes, record(call.takes ?? '', partsOf(call).members, types))
		+ once(call.gives, record(call.gives ?? '', call.columns, types, call.isPartly)) + caller(call, types, room)).join('');
	const start = room === 'core' ? QUERY : '';
	const uses = (name) => new RegExp(`\\b${name}\\b`).test(start + body);
	const from = (module, names) => (names.some(uses) ? `from ${module} import ${names.filter(uses).join(', ')}\n` : '');
	const standard = `${uses('json') ? 'import json\n' : ''}${from('collections.abc', ['Awaitable', 'Sequence'])}${from('datetime', ['datetime'])}`;
	const own = room === 'vault' ? from('.._core.contract_calls', ['Query']) + from('.sealed_tokens', ['Place'])
		: `${room === 'core' ? '' : from('.contract_calls', ['Query', 'RowKey'])}${from('.contract_words', ['EndAction'])}${from('.money_types', ['LedgerType'])}${from('.types', ['Action', 'Kind', 'OpenStatus'])}`;
	return `${head.py}
${standard}${from('typing', ['Any', 'Literal', 'NamedTuple', 'Protocol'])}
${own}${start}${body}`;
}
