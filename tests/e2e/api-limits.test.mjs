// What the api is asked for too much or too slowly, and what two processes of it share. Nobody who is refused stops others.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { pairs, PARAMS, parameters, Peer, record, request, STDIN, begin as beginRecord } from '../security/peer.mjs';
import { startApi } from '../support/api.mjs';
import { until } from '../support/wait.mjs';

const MB = 1_024 * 1_024;
const WAITS_MAX = 768;
const LONG = 60_000;
const PRICE = { amount: 1_050, currency: 'EUR' };

let api;
const peers = [];

before(async () => {
	api = await startApi('api-limits');
	// The address of a socket has 107 bytes, and the folder may have more.
	process.chdir(api.stack.runDir);
});

after(async () => {
	process.chdir('/');
	await Promise.all(peers.map((peer) => peer.close()));
	await api?.close();
});

async function connect(socket = 'sock/api.sock') {
	const peer = await Peer.connect(socket);
	peers.push(peer);
	return peer;
}

const parametersOf = (method, length) => parameters({
	path: `/v1/${method}`, method: 'POST', CONTENT_TYPE: 'application/json', CONTENT_LENGTH: `${length}`, HTTP_AUTHORIZATION: `Bearer ${api.key}`,
});

/** A call at a socket of the program itself. */
async function callAt(socket, method, body) {
	const peer = await connect(socket);
	const bytes = Buffer.from(JSON.stringify(body));
	const text = await peer.send(request(parametersOf(method, bytes.length), bytes)).answer();
	await peer.close();
	return { status: Number(/^Status: (\d+)/.exec(text)[1]), body: JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) };
}

async function created(subject = 'ada') {
	const { id } = await api.ok('create', { provider: 'github', kind: 'oauth', subject, target_url: 'https://github.com/' }, 201);
	const { elicitations: [{ seen }] } = await api.ok('wait', { of: [{ id, subject }], for_ms: 0 });
	return { id, subject, seen };
}

async function paid() {
	const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: randomUUID(), expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
	await api.ok('complete', { id, subject: 'ada', action: 'accept', ...PRICE, reference: `pi_${id}` });
	return { id, subject: 'ada' };
}

/** Many callers, each on a connection of its own: the status and the body of each answer. */
function manyCalls(count, method, body, sockets) {
	const agent = new http.Agent({ keepAlive: true, maxSockets: sockets });
	const text = JSON.stringify(body);
	let left = count;
	return Array.from({ length: count }, () => new Promise((resolve, reject) => {
		const call = http.request(`${api.stack.env.URLMODE_API_URL}/v1/${method}`, {
			method: 'POST', agent, headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
		}, async (answer) => {
			const chunks = [];
			for await (const chunk of answer) chunks.push(chunk);
			if (--left === 0) agent.destroy();
			resolve({ status: answer.statusCode, retry: answer.headers['retry-after'], body: JSON.parse(Buffer.concat(chunks)) });
		});
		call.on('error', reject).end(text);
	}));
}

describe('too many', () => {
	test('as many calls wait as one process takes; the next are refused, however many, and other methods go on', async () => {
		const owner = await created();
		const body = { of: [owner], for_ms: LONG };
		const began = performance.now();
		const answers = [];
		const waits = manyCalls(WAITS_MAX + 20, 'wait', body, WAITS_MAX + 20).map(async (call) => answers.push(await call));
		await until('those are refused for whom there is no room', () => answers.length === 20);
		answers.push(...await Promise.all(manyCalls(10_000, 'wait', { ...body, for_ms: 0 }, 200)));
		// On a machine that needs a minute for them, the first have waited to their end.
		const inTime = performance.now() - began < LONG;
		if (inTime) assert.equal(answers.length, 10_020, 'nobody else is answered');
		const kinds = new Set(answers.map((answer) => `${answer.status} ${answer.body.error?.code} ${answer.retry}`));
		assert.deepEqual([...kinds].filter((kind) => inTime || kind !== '200 undefined undefined'), ['429 too_many 3']);
		await api.ok('complete', { id: owner.id, subject: owner.subject, action: 'accept', result: { code: 'abc' } });
		await Promise.all(waits);
		if (inTime) assert.ok(answers.slice(10_020).every((answer) => answer.status === 200 && answer.body.elicitations[0].action === 'accept'), 'each of them is told');
		assert.equal(answers.length, 10_020 + WAITS_MAX);
		assert.equal((await api.call('wait', { ...body, for_ms: 0 })).status, 200);
	});
});

/** As many requests whose bodies do not come as are to be open, each with this header, until `then` is true. */
async function withOpen(count, headerOf, then) {
	const { hostname, port } = new URL(api.stack.env.URLMODE_API_URL);
	const open = new Set();
	// A request whose body never comes is closed after ten seconds: then another one.
	const fill = () => Promise.all(Array.from({ length: count - open.size }, () => new Promise((resolve) => {
		const socket = net.connect(port, hostname).on('error', () => {}).on('close', () => open.delete(socket));
		open.add(socket);
		socket.write(`POST /v1/paid HTTP/1.1\r\nHost: api\r\n${headerOf()}Content-Length: 2\r\n\r\n`, resolve);
	})));
	try {
		await until('one more is refused', async () => {
			await fill();
			return then();
		});
	} finally {
		for (const socket of open) socket.destroy();
	}
}

async function isRefused(headers) {
	const { status, headers: answered, body } = await api.call('paid', {}, { headers });
	if (status !== 429) return false;
	assert.deepEqual([body.error.code, answered.get('retry-after')], ['too_many', '3']);
	return true;
}

test('whoever has no key has the limits of its address, and stops nobody who has one', async () => {
	let withKey;
	await withOpen(1_000, () => '', async () => {
		if (!await isRefused({})) return false;
		withKey = await api.call('paid', { subject: 'ada', item: 'x' });
		return true;
	});
	assert.equal(withKey.status, 200);
});

test('a key has limits of its own, and stops no other one of its address', async () => {
	const { key } = await api.as('loud');
	let withOther;
	await withOpen(1_000, () => `Authorization: Bearer ${key}\r\n`, async () => {
		if (!await isRefused({ authorization: `Bearer ${key}` })) return false;
		withOther = await api.call('paid', { subject: 'ada', item: 'x' });
		return true;
	});
	assert.equal(withOther.status, 200);
});

test('whoever makes up a key for each request has the limits of its address as well', async () => {
	const madeUp = () => `Bearer umk_${randomBytes(32).toString('base64url')}`;
	await withOpen(1_500, () => `Authorization: ${madeUp()}\r\n`, () => isRefused({ authorization: madeUp() }));
});

describe('too large', () => {
	/** A caller that has sent so much of a body, and does not go on. */
	async function sendPart(bytes) {
		const peer = await connect();
		const part = record(STDIN, Buffer.alloc(65_528, ' '));
		peer.send(beginRecord(), record(PARAMS, pairs(parametersOf('fulfil_claim', 32 * MB))), record(PARAMS));
		for (let sent = 0; sent < bytes; sent += 65_528) peer.send(part);
		return peer;
	}

	test('64 MB of bodies are held at a time; what is beyond is refused, small calls are not, and room comes again', async () => {
		const owner = await paid();
		const { fence } = await api.ok('begin_claim', { ...owner, lease_ms: 600_000 });
		const large = { ...owner, fence: fence + 1, result: { text: 'x'.repeat(2 * MB) } };
		let refused;
		let parts;
		// Those who do not go on are closed after ten seconds: then once more.
		await until('there is no room', async () => {
			parts ??= await Promise.all([sendPart(31.5 * MB), sendPart(31.5 * MB)]);
			refused = await api.call('fulfil_claim', large);
			if (parts.some((peer) => !peer.isOpen)) parts = undefined;
			return refused.status === 503;
		});
		assert.deepEqual([refused.body.error.code, refused.headers.get('retry-after')], ['unavailable', '3']);
		await api.ok('renew_claim', { ...owner, fence, lease_ms: 600_000 });
		await Promise.all(parts.map((peer) => peer.close()));
		await until('there is room', async () => (await api.call('fulfil_claim', { ...large, fence })).status === 200);
		assert.equal((await api.ok('begin_claim', { ...owner, lease_ms: 1_000 })).result.text.length, 2 * MB);
	});

	test('whoever reads nothing of a large answer stops nobody, and whoever reads slowly gets all of it', async () => {
		const asked = async () => {
			const owner = await paid();
			const { fence } = await api.ok('begin_claim', { ...owner, lease_ms: 600_000 });
			await api.ok('fulfil_claim', { ...owner, fence, result: { text: 'x'.repeat(12 * MB) } });
			const bytes = Buffer.from(JSON.stringify({ ...owner, lease_ms: 1_000 }));
			return (await connect()).send(request(parametersOf('begin_claim', bytes.length), bytes));
		};
		const deaf = (await asked()).deafen();
		const slow = await asked();
		for (let n = 0; n < 20; n += 1) assert.equal((await api.call('paid', { subject: 'ada', item: 'x' })).status, 200);
		const text = await slow.answer();
		assert.equal(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)).result.text.length, 12 * MB);
		await deaf.close();
	});
});

describe('two processes', () => {
	let other;
	const SECOND = 'sock/second.sock';

	async function start() {
		const program = `${process.env.PROGRAM_DIR ?? fileURLToPath(new URL('../../build/bin', import.meta.url))}/api`;
		other = spawn(program, ['--listen', SECOND], { env: { ...process.env, URLMODE_CONFIG: 'api.json' }, ...await api.stack.user(), stdio: ['ignore', 'ignore', 'inherit'] });
		await until('the second process listens', async () => {
			const status = await callAt(SECOND, 'wait', {}).then((answer) => answer.status, () => undefined);
			return status === 400;
		});
	}

	async function end(signal) {
		if (other === undefined || other.exitCode !== null || other.signalCode !== null) return;
		other.kill(signal);
		await once(other, 'exit');
	}

	before(start);
	after(() => end('SIGTERM'));

	test('serve the same rows: what one has created, the other waits for, and the first completes', async () => {
		const owner = await created();
		const answer = callAt(SECOND, 'wait', { of: [owner], for_ms: LONG });
		await api.ok('complete', { id: owner.id, subject: 'ada', action: 'accept', result: { code: 'abc' } });
		const { status, body: { elicitations: [shown] } } = await answer;
		assert.deepEqual([status, shown.action, shown.result], [200, 'accept', { code: 'abc' }]);
	});

	test('the same create at both is one row, and leases are of one of them', async () => {
		const id = randomUUID();
		const asked = { provider: 'github', kind: 'oauth', subject: 'eve', target_url: 'https://github.com/', id, pkce: true };
		const [one, two] = await Promise.all([api.call('create', asked), callAt(SECOND, 'create', asked)]);
		assert.deepEqual([one.status, two.status], [201, 201]);
		assert.deepEqual(one.body, two.body);
		const owner = await paid();
		const claim = { ...owner, lease_ms: 60_000 };
		const begun = await Promise.all([api.call('begin_claim', claim), callAt(SECOND, 'begin_claim', claim)]);
		assert.deepEqual(begun.map(({ status, body }) => [status, body.error?.code]).sort(), [[200, undefined], [409, 'leased']]);
		const read = await Promise.all([api.call('ledger', { consumer: 'books' }), callAt(SECOND, 'ledger', { consumer: 'books' })]);
		assert.deepEqual(read.map(({ status, body }) => [status, body.error?.code]).sort(), [[200, undefined], [409, 'leased']]);
	});

	test('kill -9 of one: its callers go on at the other, and lose nothing', async () => {
		const owner = await created();
		const lost = callAt(SECOND, 'wait', { of: [owner], for_ms: LONG });
		const rejected = assert.rejects(lost, /closed without an answer/);
		const kept = api.call('wait', { of: [owner], for_ms: LONG });
		await until('both listen', async () => (await api.stack.sql("SELECT FROM pg_stat_activity WHERE application_name = 'api listener'")).length === 2);
		await end('SIGKILL');
		await rejected;
		await api.ok('complete', { id: owner.id, subject: 'ada', action: 'accept', result: { code: 'abc' } });
		assert.equal((await kept).body.elicitations[0].action, 'accept');
		await start();
		const { body: { elicitations: [shown] } } = await callAt(SECOND, 'wait', { of: [owner], for_ms: LONG });
		assert.equal(shown.action, 'accept');
	});
});

describe('nginx before two processes, of which one takes calls and dies', () => {
	const CONFIG = 'api-http.conf';
	const created = [];
	let kept;
	let dying;

	async function serve(config) {
		writeFileSync(CONFIG, config);
		await api.stack.service('restart', 'nginx');
		await until('nginx is there', async () => [400, 502].includes((await api.call('wait', {}).catch(() => ({}))).status));
	}

	before(async () => {
		dying = net.createServer((socket) => {
			let text = '';
			socket.on('error', () => {}).on('data', (bytes) => {
				text += bytes.toString('latin1');
				if (!text.includes('}')) return;
				created.push(/"id":"([^"]+)"/.exec(text)?.[1]);
				socket.destroy();
			});
		}).listen({ path: 'sock/dying.sock', writableAll: true });
		await once(dying, 'listening');
		kept = readFileSync(CONFIG, 'utf8');
		await serve(kept.replace('server unix:sock/api.sock;', 'server unix:sock/dying.sock max_fails=0; $&'));
	});

	after(async () => {
		if (dying.listening) dying.close();
		await serve(kept);
	});

	/** Creates until one fails; both processes have their turn. */
	async function createUntilOneFails() {
		for (let tries = 0; tries < 20; tries += 1) {
			const asked = { provider: 'github', kind: 'oauth', subject: 'ada', target_url: 'https://github.com/', id: randomUUID() };
			const { status, body, headers } = await api.call('create', asked);
			assert.equal((await api.stack.elicitation(asked.id)) !== undefined, status === 201);
			if (status !== 201) return { asked, refused: [status, body.error.code, headers.get('retry-after')] };
			assert.ok(!created.includes(asked.id), 'it was sent to both');
		}
		return {};
	}

	test('what it has taken is sent to no other one: its caller hears of it, and repeats it', async () => {
		const { asked, refused } = await createUntilOneFails();
		assert.deepEqual([refused, created.filter((id) => id === asked?.id).length], [[502, 'unavailable', '3'], 1]);
		await until('the other one has its turn', async () => (await api.call('create', asked)).status === 201);
	});

	test('neither is what it could not take: each call is tried at one process', async () => {
		await new Promise((resolve) => dying.close(resolve));
		const { refused } = await createUntilOneFails();
		assert.deepEqual(refused, [502, 'unavailable', '3']);
	});
});
