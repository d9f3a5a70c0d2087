// Names of users in other spellings (sql/functions/016_form.sql): what PostgreSQL folds is what the vectors say,
// and what JavaScript's own Unicode says of every character that it knows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { isUnseen, nfkcCasefold } from '../../lib/contract/folding.mjs';
import { openFixture } from '../support/fixture.mjs';

const VECTORS = JSON.parse(readFileSync(new URL('../vectors/folding.json', import.meta.url), 'utf8'));
const SQL = readFileSync(new URL('../../sql/functions/016_fold.sql', import.meta.url), 'utf8');

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'form-names' });
});

after(() => fixture?.close());

/** What PostgreSQL folds these names to. @param {string[]} names */
const folded = (names) => fixture.stack.sql('SELECT urlmode.fold(name) AS folded FROM unnest($1::text[]) WITH ORDINALITY AS a (name, n) ORDER BY n', [names])
	.then((rows) => rows.map((row) => row.folded));

test('the vectors say which names are the same, and which are not', async () => {
	assert.ok(SQL.includes(`from Unicode ${VECTORS.unicode}.`));
	assert.deepEqual(await folded(VECTORS.folded.map(([name]) => name)), VECTORS.folded.map(([, to]) => to));
	for (const [list, same] of [[VECTORS.same, true], [VECTORS.different, false]]) {
		const [ones, others] = await Promise.all([0, 1].map((n) => folded(list.map((pair) => pair[n]))));
		assert.deepEqual(list.filter((_, n) => (ones[n] === others[n]) !== same), []);
	}
});

test('each character that this machine knows is folded as its Unicode says, however it is written, and folding again changes nothing', async () => {
	const known = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code > 0x1F && (code < 0xD800 || code > 0xDFFF))
		.filter((code) => isUnseen(code) || /[^\p{Cn}\p{Co}]/u.test(String.fromCodePoint(code)))
		.filter((code) => !/[\p{Unified_Ideograph}\p{Script=Hangul}\p{Script=Tangut}]/u.test(String.fromCodePoint(code)));
	for (let start = 0; start < known.length; start += 20_000) {
		// What PostgreSQL's own Unicode, which may be older, does not compose is another matter.
		const rows = await fixture.stack.sql('SELECT one FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a (one, nfd, n) WHERE normalize(one, NFD) = nfd ORDER BY n',
			[String, (one) => one.normalize('NFD')].map((form) => known.slice(start, start + 20_000).map((code) => form(String.fromCodePoint(code)))));
		const characters = rows.map(({ one }) => one);
		assert.ok(characters.length > known.slice(start, start + 20_000).length - 100);
		const codes = characters.map((one) => one.codePointAt(0));
		const expected = codes.map((code, n) => isUnseen(code) ? '' : nfkcCasefold(characters[n]));
		const ones = await folded(characters);
		assert.deepEqual(characters.filter((_, n) => ones[n] !== expected[n]), []);
		assert.deepEqual(await folded(ones), ones);
		assert.deepEqual(await folded(characters.map((one) => one.normalize('NFD'))), ones);
		assert.deepEqual(await folded(characters.map((one) => `a\u2800${one}`)), await folded(characters.map((one) => `a${one}`)));
	}
});
