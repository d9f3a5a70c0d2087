// The item of a payment in place of a framework's own function: the tool with its arguments.

import assert from 'node:assert/strict';
import test from 'node:test';

import { itemOf, nameItem } from '../src/frameworks/tool-item.js';

const name = 'buy_report';

test('the item is the tool with its arguments, in whatever order they come', () => {
	assert.equal(itemOf({ name, args: { year: 2026, about: { b: [1, 'é'], a: null } } }), 'buy_report {"about":{"a":null,"b":[1,"é"]},"year":2026}');
	assert.equal(itemOf({ name, args: { about: { a: null, b: [1, 'é'] }, year: 2026 } }), itemOf({ name, args: { year: 2026, about: { b: [1, 'é'], a: null } } }));
	assert.notEqual(itemOf({ name, args: { year: 2026 } }), itemOf({ name, args: { year: '2026' } }));
	for (const args of [undefined, {}, { year: undefined }]) assert.equal(itemOf({ name, args }), name);
});

test('arguments that are too long are digested', () => {
	const item = (text) => itemOf({ name, args: { text } });
	assert.equal(Buffer.byteLength(item('x'.repeat(512 - 'buy_report {"text":""}'.length))), 512);
	assert.match(item('x'.repeat(513 - 'buy_report {"text":""}'.length)), /^buy_report sha256:[\w-]{43}$/);
	assert.match(item('é'.repeat(300)), /^buy_report sha256:[\w-]{43}$/, 'bytes are counted');
	assert.notEqual(item('x'.repeat(600)), item('x'.repeat(601)));
});

test('arguments that JSON does not tell apart are refused', () => {
	for (const value of [new Date(), new Map([[1, 2]]), 1n, NaN, () => {}, Symbol('a'), [undefined]]) {
		assert.throws(() => itemOf({ name, args: { deep: [{ value }] } }), { name: 'TypeError', message: /^item is required: the arguments of buy_report / });
	}
});

test('an item that is given stays, and an account has none', () => {
	const tool = { name, args: { year: 2026 } };
	assert.equal(nameItem({ kind: 'payment', item: 'report:42' }, tool).item, 'report:42');
	assert.equal(nameItem({ kind: 'signature' }, tool).item, 'buy_report {"year":2026}');
	assert.deepEqual(nameItem({ kind: 'oauth' }, tool), { kind: 'oauth' });
});
