// Values are checked against JSON Schema as in the other languages: tests/vectors/schema-cases.json.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { FORM_FORMATS } from '../src/core/formats.js';
import { Schema } from '../src/core/schema.js';

const CASES = JSON.parse(readFileSync(new URL('../../../tests/vectors/schema-cases.json', import.meta.url), 'utf8'));

for (const { name, schema, cases } of CASES) {
	test(`the first mistake has a place and a sentence: ${name}`, () => {
		for (const { value, ...fault } of cases) {
			assert.deepEqual({ ...new Schema(schema, FORM_FORMATS).faultsOf('it', value)[0] }, fault, JSON.stringify(value));
		}
	});
}

test('all mistakes of a description are found', () => {
	const it = {
		type: 'object', additionalProperties: false, required: ['a'],
		properties: { a: { type: 'string', pattern: '^x+$' }, b: { enum: ['1', '2'] }, c: { type: 'object', propertyNames: { not: { enum: ['d'] } } } },
		dependentRequired: { b: ['c'] }, if: { required: ['c'] }, then: { properties: { b: { const: '1' } } }, else: { required: ['b'] },
		dependentSchemas: { c: { required: ['a'] } },
	};
	const pointers = (value) => new Set(new Schema({ $defs: { it } }).faultsOf('it', value).map(({ pointer }) => pointer));
	assert.deepEqual(pointers({ a: 'xx', b: '1', c: {} }), new Set());
	assert.deepEqual(pointers({ a: 'xy', b: '3', c: { d: 1 } }), new Set(['/a', '/b', '/c/d']));
	assert.deepEqual(pointers({ b: '2' }), new Set(['/a', '/c']));
	assert.deepEqual(pointers({ a: 'x' }), new Set(['/b']));
	assert.deepEqual(pointers({ c: {}, b: '2' }), new Set(['/a', '/b']));
	const either = { oneOf: [{ required: ['a'] }, { required: ['b'] }] };
	assert.deepEqual([{ a: 1 }, { a: 1, b: 1 }, {}].map((value) => new Schema({ $defs: { either } }).faultsOf('either', value).length), [0, 1, 1]);
});
