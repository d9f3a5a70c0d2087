// Puts mistakes into the SQL of a database, each into one of its own: the random histories must find every one of them. HISTORIES says how
// many they may take, and MISTAKE selects some by their names.

import assert from 'node:assert/strict';
import { test } from 'node:test';

const HISTORIES = Number(process.env.HISTORIES ?? 2_000);
const SELECTED = new RegExp(process.env.MISTAKE ?? '');

/**
 * @param {Record<string, Record<string, [string, string]> & { sql?: string }>} mistakes in the body of these functions, this text is
 *     replaced by that one
 * @param {(t: import('node:test').TestContext) => Promise<import('./stage.mjs').Stage>} open
 * @param {(stage: import('./stage.mjs').Stage, seed: number) => Promise<void>} run a history, which throws when it finds something
 */
export function testMistakes(mistakes, open, run) {
	for (const [what, { sql, ...changes }] of Object.entries(mistakes).filter(([name]) => SELECTED.test(name))) {
		test(`is found: ${what}`, async (t) => {
			const stage = await open(t);
			try {
				if (sql) await stage.admin.query(sql);
				for (const [name, change] of Object.entries(changes)) await replace(stage, name, change);
				const found = await firstFailure(stage, run);
				assert.ok(found, `not found in ${HISTORIES} histories`);
				t.diagnostic(`seed ${found.seed}: ${found.message}`);
			} finally {
				await stage.close();
			}
		});
	}
}

async function replace(stage, name, [before, after]) {
	const { rows } = await stage.admin.query(
		"SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace AND proname = $1", [name]);
	assert.ok(rows[0].text.includes(before), `${name} has the text ${before}`);
	await stage.admin.query(rows[0].text.replaceAll(before, after));
}

async function firstFailure(stage, run) {
	for (let seed = 1; seed <= HISTORIES; seed += 1) {
		try {
			await run(stage, seed);
		} catch (error) {
			return { seed, message: error.message.split('\n')[0] };
		}
	}
	return undefined;
}
