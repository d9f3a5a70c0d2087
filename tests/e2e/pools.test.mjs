// The programs behind PgBouncer in transaction mode: each transaction may go to
// another server, and five programs share fewer.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import pg from 'pg';

import { startPgBouncer } from '../../lib/node/test/support/pgbouncer.js';
import { configure, PROGRAMS } from '../security/deployment.mjs';
import { sender } from '../support/deliveries.mjs';
import { comeBack } from '../support/flow.mjs';
import { Api } from '../support/api.mjs';
import { Console } from '../support/console.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const POOLED = 'database: there is a pooler, so statements are not prepared';

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'pools', own: true, env: { PROCESSES: '2', API: '1', CONSOLE: '1' } });
});

after(() => fixture?.close());

const noticesSince = async (begin) => (await fixture.stack.programLog()).filter(({ notice, time }) => notice && time >= begin);

/** An account and a payment, by all programs. */
async function walk() {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	await comeBack(browser, flow.returnTo({ code: 'c' }));
	assert.deepEqual(await fixture.state(flow), ['completed', 'accept', '']);

	const payment = await fixture.goOn(browser, {
		provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE,
	});
	assert.equal((await browser.open(payment.returnUrl)).status, 200);
	const stripe = sender(fixture, 'stripe');
	assert.equal((await stripe.send(stripe.event(payment.id, 'paid', PRICE))).status, 200);
	assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);
	assert.equal((await comeBack(browser, payment.returnUrl)).location, '/done');
}

/** Has the programs use this database, and walks; what they complained of since. */
async function serve(url) {
	const begin = new Date().toISOString();
	await configure(fixture.stack, (config) => {
		config.database_url = url;
	});
	await fixture.untilServing();
	await Promise.all(Array.from({ length: 12 }, walk));
	return (count) => until(`${count} messages`, async () => {
		const said = (await noticesSince(begin)).map(({ program, notice }) => `${program}: ${notice}`).sort();
		return said.length >= count && said;
	});
}

test('each process works behind PgBouncer and says once that it is there, and without it says nothing', async (t) => {
	const direct = fixture.stack.env.URLMODE_PROGRAMS_DATABASE_URL;
	const expected = PROGRAMS.flatMap((name) => [`${name}: ${POOLED}`, `${name}: ${POOLED}`]).sort();
	for (const [mode, size] of [['transaction', 4], ['session', 20]]) {
		const said = await serve(await startPgBouncer(t, direct, { mode, size }));
		assert.deepEqual(await said(expected.length), expected, mode);
		const connections = await fixture.stack.sql("SELECT FROM pg_stat_activity WHERE usename = 'urlmode_cgi'");
		assert.ok(connections.length <= size, `${connections.length} connections of ten processes`);
	}
	assert.deepEqual(await (await serve(direct))(0), []);
});

/** The programs that list rows: what limits each of their statements, what it says then, and a call that reads elicitations. */
const LIMITED = [
	{ name: 'console', login: 'URLMODE_OPERATOR_DATABASE_URL', limit: 'statement_timeout', sqlstate: '57014', file: 'console.json',
		ask: async () => (await new Console(fixture.stack).ask(`/console/elicitation?id=${randomUUID()}`)).status },
	{ name: 'api', login: 'URLMODE_DATABASE_URL', limit: 'lock_timeout', sqlstate: '55P03', file: 'api.json',
		ask: async () => (await new Api(fixture.stack, fixture.stack.env.URLMODE_API_KEY).call('unclaimed', { limit: 1 })).status },
];

for (const { name, login, limit, sqlstate, file, ask } of LIMITED) {
	test(`behind PgBouncer each transaction of the ${name} has its ${limit}, and nobody else has`, async (t) => {
		const pooled = await startPgBouncer(t, fixture.stack.env[login], { size: 1 });
		const configFile = `${fixture.stack.runDir}/${file}`;
		const config = JSON.parse(await readFile(configFile, 'utf8'));
		await writeFile(configFile, JSON.stringify({ ...config, database_url: pooled }));
		await fixture.stack.service('restart', name);
		const served = await ask();
		await until('it serves', async () => await ask() === served && served !== 503);
		const other = await connect(t, pooled);
		const admin = await connect(t, fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		const { rows: [{ value }] } = await (await connect(t, fixture.stack.env[login])).query('SELECT current_setting($1) AS value', [limit]);
		assert.deepEqual((await other.query('SELECT current_setting($1) AS value', [limit])).rows, [{ value }]);

		// Whatever a session on that connection has had before.
		await other.query('DISCARD ALL');
		const begin = new Date().toISOString();
		await admin.query('BEGIN; LOCK TABLE urlmode.elicitation, urlmode.payment IN ACCESS EXCLUSIVE MODE');
		const asked = ask();
		await until(`its statement has ended with ${sqlstate}`, async () => (await noticesSince(begin))
			.some(({ program, notice }) => program === name && notice.includes(`a transaction failed, SQLSTATE: ${sqlstate}`)));
		await admin.query('ROLLBACK');
		await asked;
		assert.equal(await ask(), served);
	});
}

async function connect(t, connectionString) {
	const client = new pg.Client({ connectionString });
	client.on('error', () => {}); // the pooler ends first
	await client.connect();
	t.after(() => client.end());
	return client;
}
