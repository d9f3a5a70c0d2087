// What a shipped description cannot be is refused before anything is asked (tests/vectors/described-kinds.json).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { checkRequest } from '../src/core/create-options.js';

const { cases } = JSON.parse(readFileSync(new URL('../../../tests/vectors/described-kinds.json', import.meta.url), 'utf8'));

for (const [provider, kind, taken] of cases) {
	test(`${provider} ${taken ? 'can' : 'cannot'} be of kind ${kind}`, () => {
		const call = () => checkRequest({ provider, kind, ...kind !== 'oauth' && { item: 'report:42' }, ...kind === 'payment' && { expected: 'any' } });
		if (taken) assert.equal(call().kind, kind);
		else assert.throws(call, new RegExp(`^TypeError: provider ${provider} cannot be of kind ${kind}: its description`));
	});
}
