// What requirePaid costs for a user who has subscribed: `entitlements` among 100,000 subscriptions, each with a renewal, and in turns the read of
// one row by its key by the same driver. The ratio counts: the times are those of this machine at this moment.
// Needs a stack: . RUN_DIR/env; node tests/bench/entitled.mjs [SUBSCRIPTIONS]

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

import { UrlMode } from '../../lib/node/src/index.js';

const { Pool } = createRequire(new URL('../../lib/node/package.json', import.meta.url))('pg');
const COUNT = Number(process.argv[2] ?? 100_000);
const SAMPLES = 1_000;
/** At most so often as long as the read of one row. */
const RATIO = 4;
const { URLMODE_DATABASE_URL, URLMODE_ADMIN_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL } = process.env;
const run = randomUUID().slice(0, 8);
const admin = new Pool({ connectionString: URLMODE_ADMIN_DATABASE_URL, max: 1 });
const urlmode = new UrlMode({ databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL });

await admin.query(`WITH made AS (
	INSERT INTO urlmode.entitlement (provider, subscription, subject, item, tenant, elicitation, opened_at, status, until)
	SELECT 'bench', $1 || i, $1 || i, 'pro', '', gen_random_uuid(), now(), 'active', now() + interval '30 days' FROM generate_series(1, $2) i
	RETURNING id, subscription, subject, elicitation
)
INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late, claimed_at, entitlement, paid_at, subject, item)
SELECT 'bench', 'pay-' || m.subscription, m.id, 1000, 'EUR', true, false, now(), m.id, now(), m.subject, 'pro' FROM made m`, [`${run}-`, COUNT]);
await admin.query('VACUUM ANALYZE urlmode.entitlement, urlmode.payment');

const someone = () => `${run}-${1 + Math.floor(Math.random() * COUNT)}`;
const SIDES = {
	'the read of one row by its key': async () => {
		const { rowCount } = await admin.query({ name: 'one', text: 'SELECT * FROM urlmode.payment WHERE provider = $1 AND reference = $2', values: ['bench', `pay-${someone()}`] });
		if (rowCount !== 1) throw new Error('there is no such row');
	},
	entitlements: async () => {
		const [found] = await urlmode.entitlements({ subject: someone(), item: 'pro' });
		if (!found?.entitled) throw new Error('the user has subscribed');
	},
};
const took = Object.fromEntries(Object.keys(SIDES).map((name) => [name, []]));
for (let n = -SAMPLES / 5; n < SAMPLES; n += 1) {
	for (const [name, read] of Object.entries(SIDES)) {
		const begun = performance.now();
		await read();
		if (n >= 0) took[name].push(performance.now() - begun);
	}
}
await admin.query("DELETE FROM urlmode.payment WHERE provider = 'bench'; DELETE FROM urlmode.entitlement WHERE provider = 'bench'; DELETE FROM urlmode.ledger WHERE provider = 'bench'");
await Promise.all([urlmode.close(), admin.end()]);

const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
const medians = Object.fromEntries(Object.entries(took).map(([name, all]) => [name, median(all)]));
const [row, found] = Object.values(medians);
for (const [name, ms] of Object.entries(medians)) console.log(`${name.padEnd(40)} ${ms.toFixed(3).padStart(8)} ms ${(ms / row).toFixed(2).padStart(7)}`);
if (found / row > RATIO) {
	console.error(`entitlements takes more than ${RATIO} times as long`);
	process.exitCode = 1;
}
