// The api on a database that nobody else uses: it purges what is over, goes on when a standby is promoted, and listens
// wherever nginx/API.md says.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { UrlMode } from '../../lib/node/src/http/index.js';
import { Cluster } from '../../lib/node/test/support/cluster.js';
import { connect } from '../../lib/node/test/support/database.js';
import { scratchKeys } from '../../lib/node/test/support/keys.js';
import { Control } from '../chaos/control.mjs';
import { freePorts } from '../stack/harness.mjs';
import { startApiServer } from '../support/api-server.mjs';
import { until } from '../support/wait.mjs';

const FAULTS = fileURLToPath(new URL('../../build/chaos/faults.so', import.meta.url));
const owner = { subject: 'ada' };
const PAYMENT = { ...owner, provider: 'demo', kind: 'payment', expected: { amount: 1_050, currency: 'EUR' }, targetUrl: 'https://checkout.example/' };

const run = promisify(execFile);

/** An api on this database, and a server that uses it. */
async function open(t, databaseUrl, env) {
	const api = await startApiServer({ databaseUrl, keysFile: scratchKeys(t), baseUrl: 'https://callback.example', env });
	const urlmode = new UrlMode({ url: api.env.URLMODE_API_URL, key: api.env.URLMODE_API_KEY });
	t.after(async () => {
		await urlmode.close();
		await api.close();
	});
	return urlmode;
}

test('what is over is purged by the api alone: results each minute, rows each hour', async (t) => {
	const cluster = await Cluster.start(t);
	const folder = mkdtempSync(join(tmpdir(), 'urlmode-control-'));
	t.after(() => rmSync(folder, { recursive: true }));
	const control = new Control(join(folder, 'control'));
	t.after(() => control.close());
	const urlmode = await open(t, cluster.serverUrl, { LD_PRELOAD: FAULTS, CHAOS_CONTROL: control.path });
	const admin = await connect(t, cluster.adminUrl);

	const create = async () => (await urlmode.create({ ...PAYMENT, item: randomUUID() })).elicitationId;
	const [old, young] = [await create(), await create()];
	for (const id of [old, young]) await urlmode.complete(id, { ...owner, action: 'accept', result: { a: 1 }, amount: 1_050, currency: 'EUR', reference: `pi_${id}` });
	const sizes = async () => (await admin.query(`SELECT e.id, e.result IS NOT NULL OR EXISTS (SELECT FROM urlmode.payment p WHERE p.elicitation = e.id AND p.result IS NOT NULL) AS kept
		FROM urlmode.elicitation e ORDER BY e.created_at`)).rows;
	const pass = (id, days) => admin.query(`WITH e AS (UPDATE urlmode.elicitation SET created_at = created_at - $2 * interval '1 day', expires_at = expires_at - $2 * interval '1 day',
			completed_at = completed_at - $2 * interval '1 day', opened_at = opened_at - $2 * interval '1 day' WHERE id = $1 RETURNING id),
		q AS (UPDATE urlmode.purge_queue SET due_at = due_at - $2 * interval '1 day' WHERE $1 = ANY (ids))
		UPDATE urlmode.payment SET proven_at = proven_at - $2 * interval '1 day' WHERE elicitation = $1`, [id, days]);
	/** So much time passes for the program, which looks at its clock when it is called. */
	const hears = async (seconds) => {
		control.setUptimeAhead(seconds);
		await assert.rejects(urlmode.cancel(randomUUID(), owner), { name: 'ElicitationNotFoundError' });
	};

	await pass(old, 31);
	await hears(50);
	assert.deepEqual(await sizes(), [{ id: old, kept: true }, { id: young, kept: true }], 'not within the minute');
	await hears(70);
	await until('the result is purged', async () => (await sizes())[0].kept === false);
	assert.deepEqual((await sizes())[1], { id: young, kept: true });

	// An unclaimed payment stays; what nobody has paid goes ninety days after it can still be paid.
	const unpaid = await create();
	await urlmode.cancel(unpaid, owner);
	for (const id of [old, unpaid]) await pass(id, 200);
	const isThere = async () => (await sizes()).some(({ id }) => id === unpaid);
	await hears(3_500);
	assert.ok(await isThere(), 'not within the hour');
	await hears(3_700);
	await until('the row is purged', async () => !await isThere());
	assert.deepEqual(await sizes(), [{ id: old, kept: false }, { id: young, kept: true }]);
});

test('a standby that is promoted: what waits goes on, and nothing is lost', async (t) => {
	const primary = await Cluster.start(t);
	const standby = await Cluster.standbyOf(t, primary);
	const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
	const urlmode = await open(t, primary.urlOf('urlmode_server', { hosts }));
	const other = await open(t, primary.urlOf('urlmode_server', { hosts }));

	const ids = [];
	for (let n = 0; n < 3; n += 1) ids.push((await urlmode.create({ ...PAYMENT, item: randomUUID() })).elicitationId);
	const waiting = ids.map((id) => urlmode.waitForCompletion(id, { ...owner, timeout: Infinity }));
	const pay = (by, id) => by.complete(id, { ...owner, action: 'accept', amount: 1_050, currency: 'EUR', reference: `pi_${id}` });
	await pay(other, ids[0]);
	assert.equal((await waiting[0]).reference, `pi_${ids[0]}`);
	const claim = await urlmode.beginClaim(ids[0], owner);

	const [one, two] = [await connect(t, primary.adminUrl), await connect(t, standby.adminUrl)];
	const { rows: [{ lsn }] } = await one.query('SELECT pg_current_wal_lsn() AS lsn');
	await until('the standby has all', async () => (await two.query('SELECT pg_last_wal_replay_lsn() >= $1 AS yes', [lsn])).rows[0].yes);
	await primary.stop('immediate');
	const during = pay(other, ids[1]).catch(({ name }) => name);
	await standby.promote();
	// It was refused before it was sent, or it is done: nobody else does it.
	await during;
	await until('another server pays', () => pay(other, ids[2]).then(() => true, () => false));
	await pay(other, ids[1]).catch(() => {});
	assert.deepEqual(await Promise.all(waiting.slice(1).map(async (wait) => (await wait).reference)), ids.slice(1).map((id) => `pi_${id}`));
	assert.equal(await claim.fulfil({ report: 1 }), true, 'its lease is there');
	assert.equal(await claim.confirm(), true);
	assert.equal((await other.beginClaim(ids[0], owner)).state, 'taken');
	assert.equal((await urlmode.create({ ...PAYMENT, item: randomUUID() })).resumed, false);
});

test('it listens on a unix socket and with TLS, by the lines that nginx/API.md shows', async (t) => {
	const cluster = await Cluster.start(t);
	const [port] = await freePorts(1);
	const lines = [...readFileSync(new URL('../../nginx/API.md', import.meta.url), 'utf8').matchAll(/^\|.*\| `(listen [^`]*;)`/gm)].map(([, line]) => line);
	assert.equal(lines.length, 3);
	const [, unix, tls] = lines;
	const api = await startApiServer({ databaseUrl: cluster.serverUrl, keysFile: scratchKeys(t), baseUrl: 'https://callback.example', server(folder) {
		execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-days', '2',
			'-subj', '/CN=api.example', '-addext', 'subjectAltName=DNS:api.example'], { cwd: folder, stdio: 'ignore' });
		return `${unix.replace('/run/urlmode-api/', `${folder}/`)} ${tls.replace('10.0.0.5:443', `127.0.0.1:${port}`)} server_name api.example;
			ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;`;
	} });
	t.after(() => api.close());
	const { targetUrl, ...asked } = PAYMENT;
	const call = async (...where) => {
		const { stdout } = await run('curl', ['-sS', '-H', `Authorization: Bearer ${api.env.URLMODE_API_KEY}`, '-d', JSON.stringify({ ...asked, item: 'i', target_url: targetUrl }), ...where]);
		return JSON.parse(stdout);
	};
	const made = await call('--unix-socket', join(api.folder, 'http.sock'), 'http://localhost/v1/create');
	assert.equal(made.resumed, false);
	const again = await call('--cacert', join(api.folder, 'cert.pem'), '--resolve', `api.example:${port}:127.0.0.1`, `https://api.example:${port}/v1/create`);
	assert.deepEqual([again.id, again.resumed], [made.id, true]);
});
