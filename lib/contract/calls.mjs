// SPDX-License-Identifier: MIT
// From functions.json and calls.json: for each function that the packages call, its statement, and how a record of
// names becomes the values of its parameters. Nobody counts positions.

import { files as filesOfProgram } from './calls-c.mjs';
import { go } from './calls-go.mjs';
import { javascript } from './calls-node.mjs';
import { python } from './calls-python.mjs';

/** @typedef {import('./calls-common.mjs').Value} Value */
/** @typedef {import('./calls-common.mjs').Call} Call */

/** The files of the room core: one for waits, and one for each of its parts. */
const OF_CORE = /** @type {const} */ (['core', 'database', 'money', 'claims', 'rechecks', 'ledger', 'tasks']);

/** @param {string} name of an array */
const singular = (name) => name.replace(name.endsWith('_ms') ? /s(?=_ms$)/ : /s$/, '');

/** @type {(call: Record<string, any>, f: Record<string, any> | undefined) => Call} */
function callOf(call, f) {
	if (!f?.roles.includes('urlmode_server')) throw new Error(`the packages cannot call ${call.name}`);
	const { unsent = [], unread = [], as = {}, words = {}, says = {} } = call;
	const isBatch = f.parameters[0]?.type.endsWith('[]') ?? false;
	/** @type {(of: { name: string, type: string }, isArray: boolean, isNamed?: boolean) => Value} */
	const value = ({ name: sql, type }, isArray, isNamed = false) => {
		const name = as[sql] ?? (isArray ? singular(sql) : sql);
		return {
			sql, name, type: type.replace('[]', ''), isArray, isList: !isArray && type.endsWith('[]'),
			missing: /** @type {const} */ (['null', 'unknown', 'sometimes']).find((kind) => call[kind]?.includes(name)), words: words[name], says: says[name],
			isSeconds: call.seconds?.includes(name) ?? false, isNamed,
		};
	};
	const sent = f.parameters.filter(({ name }) => !unsent.includes(name));
	const positional = f.parameters.findIndex(({ name }) => unsent.includes(name));
	const columns = (f.columns ?? []).filter(({ name }) => !unread.includes(name)).map((column) => value(column, false));
	const result = f.columns || f.result === 'void' || call.ignored ? undefined : value({ name: '', type: f.result }, false);
	const room = call.room ?? 'core';
	return {
		name: call.name, isBatch, takes: call.takes, gives: call.gives, columns, value: result,
		parameters: sent.map((parameter) => value(parameter, isBatch && parameter.type.endsWith('[]'),
			positional >= 0 && f.parameters.indexOf(parameter) > positional)),
		rooms: { js: [room], py: [room], go: [room], ...call.in },
		answer: columns.length > 0 ? call.one ? 'row' : call.maybe ? 'row or none' : 'rows' : result ? 'value' : 'nothing',
		reads: f.reads, isPartly: call.partly ?? false,
	};
}

/** @type {(data: { types: Record<string, any>, calls: Record<string, any>[], program: import('./calls-c.mjs').Program[] }, functions: Record<string, any>[]) => Record<string, string>} */
export function files({ types, calls, program }, functions) {
	const all = calls.map((call) => callOf(call, functions.find(({ schema, name }) => schema === 'urlmode' && name === call.name)));
	/** @type {(language: 'js' | 'py' | 'go', room: string) => Call[]} */
	const of = (language, room) => all.filter(({ rooms }) => rooms[language].includes(room));
	const ofRoom = OF_CORE.flatMap((room) => {
		const name = room === 'core' ? 'calls' : room;
		return [
			[`lib/node/src/core/contract-${name}.js`, javascript(of('js', room), types, room)],
			[`lib/python/src/urlmode/_core/contract_${name}.py`, python(of('py', room), types, room)],
			[`lib/go/contract_${name}.go`, go(of('go', room), types, 'urlmode')],
		];
	});
	return {
		...filesOfProgram(program, functions),
		...Object.fromEntries(ofRoom),
		'lib/node/src/vault/contract-calls.js': javascript(of('js', 'vault'), types, 'vault'),
		'lib/python/src/urlmode/_vault/contract_calls.py': python(of('py', 'vault'), types, 'vault'),
		'lib/go/vault/contract_calls.go': go(of('go', 'vault'), types, 'vault'),
	};
}
