// Names of users in other spellings (sql/functions/016_form.sql): all that JavaScript knows of Unicode
// is compared with what PostgreSQL folds.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'form-names' });
});

after(() => fixture?.close());

test('folding is the same for all spellings of a character, and folding again changes nothing', async () => {
	// Latin, Greek, Cyrillic, Armenian, symbols and forms for compatibility, in which no version of Unicode adds a case any more
	// (Glagolitic got one with Unicode 14).
	const BLOCKS = [[0x21, 0x58F], [0x1E00, 0x2BFF], [0x2C60, 0x33FF], [0xF900, 0xFFEF], [0x1D400, 0x1D7FF]];
	const isKnown = (text) => [...text].every((one) => BLOCKS.some(([from, to]) => from <= one.codePointAt(0) && one.codePointAt(0) <= to));
	const pairs = [];
	for (const code of BLOCKS.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n))) {
		const one = String.fromCodePoint(code);
		const others = [one.toUpperCase(), one.toLowerCase(), ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => one.normalize(form))];
		for (const other of new Set(others)) if (other !== one && isKnown(other)) pairs.push([`a${one}b`, `a${other}b`]);
	}
	assert.ok(pairs.length > 4_000);
	const rows = await fixture.stack.sql(`SELECT one, other FROM unnest($1::text[], $2::text[]) AS pair (one, other)
		WHERE urlmode.fold(one) <> urlmode.fold(other) OR urlmode.fold(urlmode.fold(one)) <> urlmode.fold(one)`,
	[pairs.map(([one]) => one), pairs.map(([, other]) => other)]);
	assert.deepEqual(rows, []);
});
