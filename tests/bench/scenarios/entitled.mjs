// What requirePaid costs for a user who has subscribed: `entitlements` among many subscriptions, each with a renewal, and in turns the
// read of one row by its key by the same driver.

import { createRequire } from 'node:module';

import { UrlMode } from '../../../lib/node/src/index.js';
import { median } from '../statistics.mjs';

const { Pool } = createRequire(new URL('../../../lib/node/package.json', import.meta.url))('pg');
const SAMPLES = 1_000;

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {number} count subscriptions
 * @returns {Promise<{ row: number, entitled: number }>} the medians, in milliseconds
 */
export async function entitled(bed, count) {
	const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_ADMIN_DATABASE_URL: connectionString, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl } = bed.stack.env;
	await bed.sql(`WITH made AS (
		INSERT INTO urlmode.entitlement (provider, subscription, subject, item, tenant, elicitation, opened_at, status, until)
		SELECT 'bench', i, 'subscriber-' || i, 'pro', '', gen_random_uuid(), now(), 'active', now() + interval '30 days' FROM generate_series(1, $1::integer) i
		RETURNING id, subscription, subject
	)
	INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late, claimed_at, entitlement, paid_at, subject, item)
	SELECT 'bench', 'pay-' || m.subject, m.id, 1000, 'EUR', true, false, now(), m.id, now(), m.subject, 'pro' FROM made m`, [count]);
	await bed.sql('VACUUM ANALYZE urlmode.entitlement, urlmode.payment');

	const pool = new Pool({ connectionString, max: 1 });
	const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl });
	const someone = () => `subscriber-${1 + Math.floor(Math.random() * count)}`;
	const sides = {
		row: async () => {
			const { rowCount } = await pool.query({
				name: 'one', text: 'SELECT * FROM urlmode.payment WHERE provider = $1 AND reference = $2', values: ['bench', `pay-${someone()}`],
			});
			if (rowCount !== 1) throw new Error('there is no such row');
		},
		entitled: async () => {
			const [found] = await urlmode.entitlements({ subject: someone(), item: 'pro' });
			if (!found?.entitled) throw new Error('the user has subscribed');
		},
	};
	const took = { row: [], entitled: [] };
	for (let n = -SAMPLES / 5; n < SAMPLES; n += 1) {
		for (const [name, read] of Object.entries(sides)) {
			const begun = performance.now();
			await read();
			if (n >= 0) took[name].push(performance.now() - begun);
		}
	}
	await Promise.all([urlmode.close(), pool.end()]);
	for (const table of ['payment', 'entitlement', 'ledger']) await bed.sql(`DELETE FROM urlmode.${table} WHERE provider = 'bench'`);
	return { row: median(took.row), entitled: median(took.entitled) };
}
