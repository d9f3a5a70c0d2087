// Mistakes in the SQL of rechecks, which their histories must find.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MISTAKES } from './mistakes/rechecks.mjs';
import { admin, makeHistory, run } from './recheck-histories.mjs';

const HISTORIES = Number(process.env.HISTORIES ?? 400);

for (const [what, changes] of Object.entries(MISTAKES)) {
	test(`is found: ${what}`, async (t) => {
		const [[name, [right, wrong]]] = Object.entries(changes);
		const { rows: [{ text }] } = await admin.query(
			"SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace AND proname = $1", [name]);
		assert.ok(text.includes(right), `${name} has the text ${right}`);
		await admin.query(text.replaceAll(right, wrong));
		try {
			for (let seed = 1; seed <= HISTORIES; seed += 1) {
				const failure = await run(makeHistory(seed)).then(() => undefined, (error) => error);
				if (failure) return t.diagnostic(`seed ${seed}: ${failure.message.split('\n')[0]}`);
			}
			assert.fail(`not found in ${HISTORIES} histories`);
		} finally {
			await admin.query(text);
			await admin.query('UPDATE urlmode.recheck SET rechecked = rechecks');
		}
	});
}
