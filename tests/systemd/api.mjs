// The api beside the programs, as nginx/API.md says it: set up, called by a server without a package, restarted and killed while
// that one waits. The other deployment upgrades it and boots the machine, and the package takes it away in the end.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { ROOT } from '../stack/harness.mjs';
import { until } from '../support/wait.mjs';
import { allWell } from './check.mjs';
import { BASE, USER } from './site.mjs';

const API = 'http://127.0.0.1:8081';
const PRICE = { amount: 1050, currency: 'EUR' };

/** The commands of the guide, one after the other. */
function guide() {
	const [, block] = /^## Setting it up$[^]*?\n\n((?: {4}.*\n)+)/m.exec(readFileSync(path.join(ROOT, 'nginx/API.md'), 'utf8'));
	return block.trim().split('\n').map((line) => line.trim());
}

export function api(it) {
	let key;

	async function call(method, body) {
		const answer = await fetch(`${API}/v1/${method}`, {
			method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }, body: JSON.stringify(body),
		});
		return { status: answer.status, body: await answer.json() };
	}

	async function ok(method, body) {
		const answer = await call(method, body);
		assert.ok(answer.status < 300, `${method}: ${JSON.stringify(answer)}`);
		return answer.body;
	}

	/** A payment that waits for its user: its id and owner, and what was seen of it. */
	async function asked(item) {
		const wanted = { provider: 'stripe', kind: 'payment', subject: USER, item, expected: PRICE };
		const { needs, id } = await ok('create', wanted);
		assert.equal(needs, 'target_url');
		await ok('create', { ...wanted, id, target_url: 'https://checkout.example/pay' });
		const { elicitations: [{ seen }] } = await ok('wait', { of: [{ id, subject: USER }], for_ms: 0 });
		return { id, subject: USER, seen };
	}

	/** As a server does it that goes on until it has the outcome, whatever becomes of the api meanwhile. */
	async function outcomeOf(owner) {
		let shown;
		await until('it has the outcome', async () => {
			const { status, body } = await call('wait', { of: [owner], for_ms: 60_000 }).catch(() => ({}));
			shown = status === 200 ? body.elicitations[0] : undefined;
			return shown?.status === 'completed';
		}, { timeout: 120_000, every: 200 });
		return shown;
	}

	const pid = async () => Number(await it.machine.sh('systemctl show -P MainPID urlmode-api.service'));
	const isReady = () => until('the api answers', async () => (await call('paid', { subject: USER, item: 'none' }).catch(() => ({}))).status === 200, { timeout: 60_000, every: 200 });

	test('without its configuration neither its service nor its socket starts', async () => {
		const { machine } = it;
		await machine.sh('systemctl start urlmode-api.socket urlmode-api.service');
		assert.equal(await machine.sh("systemctl list-units --no-legend --state=active,failed 'urlmode-api*'"), '');
		assert.equal(existsSync(machine.file('run/urlmode-api')), false);
	});

	test('the commands of the guide set it up, and check walks it', async () => {
		const { machine } = it;
		const said = {};
		for (const line of guide()) {
			const command = line.replace(/^urlmode check$/, 'urlmode check --server-keys /root/server-keys --only api');
			said[line.split(' ').slice(0, 2).join(' ')] = await machine.sh(command.replace(/https:\/\/[^ ]+$/, BASE));
		}
		assert.deepEqual(Object.keys(said), ['urlmode setup', 'systemctl restart', 'nginx -t', 'urlmode api-key', 'urlmode check']);
		[key] = said['urlmode api-key'].split('\n');
		assert.match(key, /^umk_[\w-]{43}$/);
		await isReady();
		await allWell(machine);
	});

	test('no program of the callback host reads its files or connects to its socket, and it reads nothing of theirs', async () => {
		const { machine } = it;
		for (const file of ['api.json', 'keys', 'api-keys']) {
			assert.equal((await machine.run('runuser', '-u', 'urlmode-api', '--', 'cat', `/etc/urlmode-api/${file}`)).status, 0, file);
			assert.notEqual((await machine.run('runuser', '-u', 'urlmode', '--', 'cat', `/etc/urlmode-api/${file}`)).status, 0, file);
		}
		for (const file of ['keys', 'config.json']) assert.notEqual((await machine.run('runuser', '-u', 'urlmode-api', '--', 'cat', `/etc/urlmode/${file}`)).status, 0, file);
		// 7: it could not connect.
		for (const [user, socket] of [['urlmode', 'urlmode-api/api'], ['nobody', 'urlmode-api/api'], ['urlmode-api', 'urlmode/connect']]) {
			assert.equal((await machine.run('runuser', '-u', user, '--', 'curl', '-s', '--unix-socket', `/run/${socket}.sock`, 'http://x/')).status, 7, `${user} ${socket}`);
		}
		assert.equal((await it.site.get('/v1/wait')).status, 404, 'nor has the callback host its routes');
	});

	for (const [what, act] of Object.entries({
		'is restarted': (machine) => machine.sh('systemctl restart urlmode-api.service'),
		'is killed': (machine) => machine.sh('systemctl kill --signal=KILL urlmode-api.service'),
	})) {
		test(`the api ${what} while a server waits, which has what was paid`, async () => {
			const { machine, site } = it;
			const owner = await asked(`report:${what}`);
			const outcome = outcomeOf(owner);
			const before = await pid();
			await act(machine);
			await until('another process runs', async () => ![0, before].includes(await pid()), { timeout: 60_000, every: 200 });
			await site.tell(owner.id, PRICE);
			assert.equal((await outcome).action, 'accept');
			await isReady();
			const { state, fence } = await ok('begin_claim', { ...owner, seen: undefined, lease_ms: 30_000 });
			assert.equal(state, 'begun');
			await ok('fulfil_claim', { id: owner.id, subject: USER, fence, end: 'delivered' });
		});
	}

	test('nginx is reloaded while a server waits: the call goes on, and check looks at the workers that serve', async () => {
		const { machine, site } = it;
		const owner = await asked('report:reload');
		const wait = call('wait', { of: [owner], for_ms: 60_000 });
		await machine.sh('touch /etc/nginx/urlmode/api.conf && nginx -t -q && systemctl reload nginx');
		await allWell(machine);
		await site.tell(owner.id, PRICE);
		const { body: { elicitations: [shown] } } = await wait;
		assert.equal(shown.action, 'accept');
		const { fence } = await ok('begin_claim', { id: owner.id, subject: USER, lease_ms: 30_000 });
		await ok('fulfil_claim', { id: owner.id, subject: USER, fence, end: 'delivered' });
	});

	test('it stops and starts with the target', async () => {
		const { machine, site } = it;
		await machine.sh('systemctl stop urlmode.target');
		assert.equal(await machine.sh("systemctl list-units --no-legend --state=active,failed 'urlmode-api*'; ls /run/urlmode-api 2>/dev/null || true"), '');
		await machine.sh('systemctl start urlmode.target');
		await site.serves();
		await isReady();
		await allWell(machine);
	});
}
