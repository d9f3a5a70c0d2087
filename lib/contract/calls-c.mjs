// SPDX-License-Identifier: MIT
// The calls of the program `api`: each is a statement, the types of its parameters, which are put one after another,
// and names for the places of its columns.

import { head, upper, wrapped } from './languages.mjs';

const TYPES = {
	uuid: 'UUID', text: 'TEXT', bytea: 'BYTEA', boolean: 'BOOL', bigint: 'INT8', integer: 'INT4', smallint: 'INT2', timestamptz: 'TIME', jsonb: 'JSONB',
	'uuid[]': 'UUIDS', 'bytea[]': 'BYTEAS',
};

/** How a column is read as text. @type {(column: { name: string, type: string }) => string} */
function read({ name, type }) {
	if (type === 'timestamptz') return `floor(extract(epoch FROM ${name}) * 1000)`;
	return type.endsWith('[]') ? `to_jsonb(${name})` : name;
}

/**
 * @typedef {object} Program a call of the program, in calls.json
 * @property {string} name
 * @property {boolean} [each] whether one statement carries out all operations of a batch
 * @property {string} [as] its name, if another one calls the same function
 * @property {boolean} [large] whether what it reads can be as large as a batch may be
 * @property {string[]} [gives] the columns that are read; all of them, if it does not say
 * @property {string[]} [unsent] parameters that have defaults
 *
 * @param {Program} call
 * @param {Record<string, any> | undefined} f
 */
function callOf({ name, as = name, each = false, large = false, gives, unsent = [] }, f) {
	if (!f?.roles.includes('urlmode_server')) throw new Error(`the program api cannot call ${name}`);
	const sent = f.parameters.filter((parameter) => !unsent.includes(parameter.name));
	const all = f.columns ?? [];
	const columns = gives?.map((wanted) => all.find((column) => column.name === wanted) ?? fail(`${name} has no column ${wanted}`)) ?? all;
	const types = sent.map(({ type }) => TYPES[each ? type.replace('[]', '') : type] ?? fail(`${name} has a parameter of type ${type}`));
	const called = `urlmode.${name}(${sent.map((_, i) => `$${i + 1}`).join(', ')})`;
	const sql = columns.length > 0 ? `SELECT ${columns.map(read).join(', ')} FROM ${called}` : `SELECT ${called}`;
	return { name: as, each, large, types, sql, columns: columns.map((column) => column.name) };
}

function fail(message) {
	throw new Error(message);
}

/** A list of words, over as many lines as it needs. */
const listed = (words) => wrapped(words.join(', '), '\t\t', 90).trim();

/** @param {ReturnType<typeof callOf>} call */
const source = ({ name, each, large, types, sql }) => `
const struct um_call um_call_${name} = {
	.name = "${name}",
	.sql = ${wrapped(sql, '\t\t', 88).trimEnd().split('\n').map((line, i, { length }) => `${i === 0 ? '' : '\t       '}"${line.trim()}${i < length - 1 ? ' ' : ''}"`).join('\n')},
	.types = { ${listed(types.map((type) => `UM_CALL_${type}`))} },
${each ? '\t.each = true,\n' : ''}${large ? '\t.large = true,\n' : ''}};
`;

/** @param {ReturnType<typeof callOf>} call */
const declaration = ({ name, columns }) => `
extern const struct um_call um_call_${name};
${columns.length > 1 ? `enum um_${name}_column {\n${columns.map((column) => `\tUM_${upper(name)}_${upper(column)},\n`).join('')}};\n` : ''}`;

/** @type {(calls: Program[], functions: Record<string, any>[]) => Record<string, string>} */
export function files(calls, functions) {
	const all = calls.map((call) => callOf(call, functions.find(({ schema, name }) => schema === 'urlmode' && name === call.name)));
	return {
		'lib/api/calls.h': `${head.h}/* The functions of the database that the methods call, and the places of their columns. */
#ifndef UM_API_CALLS_H
#define UM_API_CALLS_H

#include "postgres/call.h"

/* All of them; NULL ends the list. */
extern const struct um_call *const um_api_calls[];
${all.map(declaration).join('')}
#endif
`,
		'lib/api/calls.c': `${head.h}#include "api/calls.h"

#include <stddef.h>
${all.map(source).join('')}
const struct um_call *const um_api_calls[] = {
${all.map(({ name }) => `\t&um_call_${name},\n`).join('')}	NULL
};
`,
	};
}
