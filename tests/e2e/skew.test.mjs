// Today's programs and packages with a schema that is one version newer: an operator migrates
// first, and goes back to the older programs when something is wrong (nginx/UPGRADING.md).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { functionsVersion } from '../../lib/node/src/commands/migrations.js';
import { sender } from '../support/deliveries.mjs';
import { comeBack } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PRICE = { amount: 1050, currency: 'EUR' };

/** What a newer version may do to the schema, as UPGRADING.md says. */
const NEWER = `
	INSERT INTO urlmode.migration (name) VALUES ('900_newer.sql');
	ALTER TABLE urlmode.elicitation ADD newer text NOT NULL DEFAULT '';
	ALTER TABLE urlmode.payment ADD newer integer;
	CREATE OR REPLACE FUNCTION urlmode.functions_version() RETURNS integer
	LANGUAGE sql IMMUTABLE AS 'SELECT ${functionsVersion() + 1}';
	-- One more column of the result, and one more parameter: by another name.
	CREATE FUNCTION urlmode.ping_v2(newer text DEFAULT NULL) RETURNS TABLE (ok boolean, version integer)
	LANGUAGE sql STABLE AS 'SELECT urlmode.ping(), urlmode.functions_version()';
	GRANT EXECUTE ON FUNCTION urlmode.ping_v2 TO urlmode_cgi, urlmode_server;`;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'skew', own: true });
	await fixture.stack.sql(NEWER);
});

after(() => fixture?.close());

/** An MCP server that was started before the schema was migrated, and one that is started now. */
const servers = () => ({ 'before the migration': fixture.urlmode, 'after it': fixture.openUrlMode() });

for (const when of ['before the migration', 'after it']) {
	test(`an account is connected, by a server that was started ${when}`, async () => {
		const urlmode = servers()[when];
		const browser = fixture.browser();
		const away = await fixture.goOn(browser);
		const outcome = urlmode.waitForCompletion(away.id, away.owner);
		assert.equal((await comeBack(browser, away.returnTo({ code: 'the code' }))).status, 303);
		const { action, result } = await outcome;
		assert.deepEqual([action, result.code], ['accept', 'the code']);
		await urlmode.claim(away.id, away.owner);
	});

	test(`a payment is proved, claimed and given back, by a server that was started ${when}`, async () => {
		const urlmode = servers()[when];
		const payment = await fixture.createPayment('stripe', { expected: PRICE });
		const stripe = sender(fixture, 'stripe');
		assert.equal((await stripe.send(stripe.event(payment.id, 'paid', PRICE))).status, 200);
		const { action, reference } = await urlmode.waitForCompletion(payment.id, payment.owner);
		assert.equal(action, 'accept');
		await urlmode.claim(payment.id, { ...payment.owner, reference });
		assert.deepEqual((await urlmode.unclaimed()).filter(({ elicitationId }) => elicitationId === payment.id), []);
	});
}

test('urlmode check of the package finds no error', async () => {
	const { code, findings } = await new Promise((resolve) => {
		execFile(process.execPath, [path.join(ROOT, 'lib/node/bin/urlmode.mjs'), 'check', '--json'], { env: { ...process.env, ...fixture.stack.env } },
			(error, stdout) => resolve({ code: error?.code ?? 0, findings: JSON.parse(stdout).findings }));
	});
	assert.deepEqual([code, findings.find(({ check }) => check === 'schema').severity], [0, 'ok']);
});

test('urlmode migrate of the older version changes nothing', async () => {
	const { code, stderr } = await new Promise((resolve) => {
		execFile(path.join(ROOT, 'sql/migrate'), { env: { ...process.env, ...fixture.stack.env } }, (error, stdout, text) => resolve({ code: error?.code ?? 0, stderr: text }));
	});
	assert.notEqual(code, 0);
	assert.match(stderr, /would be replaced by older ones/);
});
