// What else than a web server may come to a program's socket. It is closed
// without an answer, at the latest after its read limit; the others are served
// meanwhile, by the same process. Every way in which a record can be wrong is a
// unit test (tests/unit/test_fcgi_check_refused.c).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { Browser } from '../support/browser.mjs';
import { comeBack } from '../support/flow.mjs';
import { request as httpRequest } from '../support/http.mjs';
import { cpuMsOf, isThere } from '../support/processes.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { constant } from '../support/constants.mjs';
import { PROGRAMS } from './deployment.mjs';
import {
	begin, GET_VALUES, pair, pairs, parameters, PARAMS, Peer, record, request, STDIN,
} from './peer.mjs';

let fixture;
const peers = [];

before(async () => {
	fixture = await openFixture({ name: 'fastcgi', own: true });
	// A socket's address has 107 bytes, and the folder may have more.
	process.chdir(fixture.stack.runDir);
});

after(async () => {
	process.chdir('/');
	await Promise.all(peers.map((peer) => peer.close()));
	await fixture?.close();
});

async function connect(name = 'status') {
	const peer = await Peer.connect(`sock/${name}.sock`);
	peers.push(peer);
	return peer;
}

/** A route of each program that it answers without the database. */
const ROUTES = {
	'connect': '/connect/nobody', 'oauth-return': '/oauth/nobody/return', 'payment-return': '/payment/nobody/return',
	'form': '/form/nobody', 'signin-return': '/signin/return', 'status': '/status', 'webhook': '/webhook/nobody',
};

/** That nginx is answered by this program. */
async function assertServes(name = 'status') {
	const { status } = await httpRequest(fixture.url(ROUTES[name]));
	assert.ok([404, 405].includes(status), `${name} answered ${status}`);
}

/** That these bytes end the connection unanswered, and nothing else. */
async function assertClosed(name, ...bytes) {
	const before = await fixture.stack.program(name);
	const peer = await connect(name);
	peer.send(...bytes);
	assert.equal((await peer.closed).length, 0, 'no answer');
	await assertServes(name);
	assert.deepEqual(await fixture.stack.program(name), before, 'the same process');
}

describe('a good peer', () => {
	test('is answered, one request after another on its connection', async () => {
		const peer = await connect();
		for (let i = 0; i < 3; i++) {
			assert.match(await peer.send(request()).answer(), /^Status: 200\r\n/);
		}
		assert.ok(peer.isOpen);
	});

	test('is answered when its bytes come one by one', async () => {
		const peer = await connect();
		for (const byte of request()) {
			peer.send(Buffer.of(byte));
			await new Promise(setImmediate);
		}
		assert.match(await peer.answer(), /^Status: 200\r\n/);
	});

	test('sees nothing of the request before it on its connection', async () => {
		const peer = await connect();
		const first = parameters({ cookie: '__Host-urlmode-done=declined' });
		assert.match(await peer.send(request(first)).answer(), /<h1>Declined<\/h1>/);
		const { HTTP_COOKIE, ...second } = first;
		assert.ok(HTTP_COOKIE);
		assert.match(await peer.send(request(second)).answer(), /<h1>You can go back<\/h1>/);
	});

	// libfcgi's own FCGI_Accept() would make them the environment of the process.
	test('cannot change the environment with its parameters', async () => {
		const program = await fixture.stack.program('connect');
		const peer = await connect('connect');
		const hostile = {
			URLMODE_CONFIG: '/nonexistent', URLMODE_KEYS: `1 ${Buffer.alloc(32).toString('base64')}`, URLMODE_CGI_DATABASE_URL: 'host=/nonexistent',
			PGHOST: '/nonexistent', PGHOSTADDR: '192.0.2.1', PGPORT: '1', PGUSER: 'nobody', PGPASSWORD: 'x', PGDATABASE: 'x', PGOPTIONS: '-c role=nobody', PGSERVICE: 'x',
		};
		assert.match(await peer.send(request({ ...parameters(), SCRIPT_NAME: '/connect/nobody', ...hostile })).answer(), /^Status: 404\r\n/);
		process.kill(program.pid, 'SIGHUP');
		await fixture.stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'urlmode_cgi'");
		const browser = new Browser();
		const flow = await fixture.goOn(browser);
		assert.equal((await comeBack(browser, flow.returnTo({ code: 'the code' }))).location, '/done');
		browser.close();
		assert.deepEqual(await fixture.stack.program('connect'), program, 'the same process');
	});

	test('that does not ask to keep the connection has it closed after the answer', async () => {
		const peer = await connect();
		peer.send(begin({ flags: 0 }), record(PARAMS, pairs(parameters())), record(PARAMS), record(STDIN));
		assert.match((await peer.closed).toString('latin1'), /Status: 200\r\n/);
	});
});

describe('a connection that sends what no web server sends is closed without an answer', () => {
	const good = [record(PARAMS, pairs(parameters())), record(PARAMS), record(STDIN)];
	const length = (bytes) => Buffer.of(0x80 | bytes >>> 24, bytes >>> 16 & 255, bytes >>> 8 & 255, bytes & 255);
	const params = (content) => [begin(), record(PARAMS, content), record(PARAMS), record(STDIN)];

	for (const [name, bytes] of [
		['management: FCGI_GET_VALUES', [record(GET_VALUES, pair('FCGI_MAX_CONNS', ''), { id: 0 })]],
		['the role of an authorizer', [begin({ role: 2 }), ...good]],
		['version 2 in the second record', [begin(), record(PARAMS, pairs(parameters()), { version: 2 }), ...good]],
		['no FastCGI at all', [Buffer.from('GET /done HTTP/1.1\r\nHost: x\r\n\r\n')]],
		['a request behind the request', [request(), request()]],
		['a name and a value that add up to nothing', params(Buffer.concat([length(0x7fff_ffff), length(0x7fff_ffff), Buffer.from('N')]))],
		['a NUL in a value', params(pair('QUERY_STRING', 'state=x\0y'))],
	]) {
		test(name, () => assertClosed('status', ...bytes));
	}

	test('every program checks the records', async () => {
		for (const name of PROGRAMS) {
			await assertClosed(name, record(GET_VALUES, pair('FCGI_MAX_CONNS', ''), { id: 0 }));
		}
	});
});

describe('limits of a request, at and over them', () => {
	const pairsOf = (count) => ({
		...parameters(),
		...Object.fromEntries(Array.from({ length: count - Object.keys(parameters()).length }, (_, i) => [`HTTP_X_${i}`, 'v'])),
	});

	test('UM_FCGI_PAIRS_MAX parameters are served', async () => {
		const peer = await connect();
		assert.match(await peer.send(request(pairsOf(constant('UM_FCGI_PAIRS_MAX')))).answer(), /^Status: 200\r\n/);
		await assertClosed('status', request(pairsOf(constant('UM_FCGI_PAIRS_MAX') + 1)));
	});

	test('UM_FCGI_PARAMS_MAX bytes of parameters are served', async () => {
		const max = constant('UM_FCGI_PARAMS_MAX');
		const rest = max - pairs({ ...parameters(), HTTP_X: 'v'.repeat(1_000) }).length + 1_000;
		const fits = { ...parameters(), HTTP_X: 'v'.repeat(rest) };
		assert.equal(pairs(fits).length, max);
		assert.match(await (await connect()).send(request(fits)).answer(), /^Status: 200\r\n/);
		await assertClosed('status', request({ ...fits, HTTP_X: 'v'.repeat(rest + 1) }));
	});

	test('UM_FCGI_BODY_MAX bytes of a body are read and refused, more are not read', async () => {
		const max = constant('UM_FCGI_BODY_MAX');
		const posted = (size) => {
			const chunks = [];
			for (let left = size; left > 0; left -= 65_535) {
				chunks.push(record(STDIN, Buffer.alloc(Math.min(left, 65_535), 'a')));
			}
			const params = parameters({ path: '/connect/demo', method: 'POST', CONTENT_TYPE: 'application/x-www-form-urlencoded' });
			return [begin(), record(PARAMS, pairs(params)), record(PARAMS), ...chunks, record(STDIN)];
		};
		const peer = await connect('connect');
		assert.match(await peer.send(...posted(max)).answer(), /^Status: 413\r\n/);
		await assertClosed('connect', ...posted(max + 1));
	});
});

describe('a peer that says nothing', () => {
	test('costs no processor time, and takes nobody’s place', async () => {
		const crowd = constant('UM_CONNECTIONS_MAX') + 100;
		const { pid } = await fixture.stack.program('status');
		const silent = [];
		for (let i = 0; i < crowd; i++) {
			silent.push(await connect());
		}
		for (let i = 0; i < 5; i++) {
			await assertServes();
		}
		// Those that were silent for longest made room; the others are still there.
		await until('the first has made room', () => !silent[0].isOpen);
		assert.ok(silent.at(-1).isOpen);
		assert.ok(silent.filter((peer) => peer.isOpen).length > crowd - 200);
		assert.match(await silent.at(-1).send(request()).answer(), /^Status: 200\r\n/);

		const before = await cpuMsOf(pid);
		await new Promise((resolve) => {
			setTimeout(resolve, 500);
		});
		assert.ok(await cpuMsOf(pid) - before <= 20, 'a program that nobody asks does nothing');
		await Promise.all(silent.map((peer) => peer.close()));
	});
});

describe('a peer that stalls', () => {
	const whole = request(parameters({ path: '/connect/demo', method: 'POST' }), Buffer.from('answer=continue'));
	const stalls = {
		'in the first header': whole.subarray(0, 3),
		'after the begin': whole.subarray(0, 16),
		'in the parameters': whole.subarray(0, 60),
		'before the body': whole.subarray(0, -8 - 8 - 15),
		'in the body': whole.subarray(0, -8 - 5),
		'before the last record': whole.subarray(0, -8),
		'one byte before the end': whole.subarray(0, -1),
		'in a record that never ends': Buffer.concat([whole.subarray(0, 16), Buffer.of(1, 4, 0, 1, 0x7f, 0xff, 0xff, 0), Buffer.alloc(100)]),
	};

	test('inside a record is closed after its read limit, once; the others are served meanwhile', async () => {
		const limit = constant('UM_CONNECTIONS_SLOW_MS');
		const before = await fixture.stack.program('connect');
		const began = performance.now();
		const stalled = await Promise.all(Object.entries(stalls).map(async ([name, bytes]) => (
			{ name, peer: (await connect('connect')).send(bytes) })));
		// It sends a byte now and then: that wins it no time.
		const slow = await connect('connect');
		let at = 0;
		const drip = setInterval(() => slow.isOpen && slow.send(whole.subarray(at, ++at)), limit / (whole.length / 2));

		try {
			for (let i = 0; i < 20; i++) {
				await assertServes('connect');
				await fixture.goOn(fixture.browser());
			}
			const open = stalled.filter(({ peer }) => peer.isOpen).length;
			assert.ok(open === stalled.length || performance.now() - began >= limit, 'they were served beside the stalled');

			for (const { name, peer } of stalled) {
				assert.equal((await peer.closed).length, 0, name);
			}
			assert.equal((await slow.closed).length, 0, 'byte by byte');
			assert.ok(performance.now() - began >= limit - 100, 'not before its limit');
		} finally {
			clearInterval(drip);
		}
		assert.deepEqual(await fixture.stack.program('connect'), before);
	});

	test('by not reading its answers is closed; the others are served meanwhile', async () => {
		const deaf = (await connect()).deafen();
		const other = await connect();
		// More answers than its socket holds.
		for (let n = 0; n < 1_000; n += 1) deaf.send(request());
		await until('it is closed', async () => {
			assert.match(await other.send(request()).answer(), /^Status: 200\r\n/);
			return !deaf.isOpen;
		}, { timeout: 3 * constant('UM_CONNECTIONS_SLOW_MS') });
		await assertServes();
	});
});

describe('SIGTERM', () => {
	const partial = request().subarray(0, 40);

	for (const name of PROGRAMS) {
		test(`ends ${name} soon, whoever is connected`, async () => {
			const before = await fixture.stack.program(name);
			const connected = [];
			for (let i = 0; i < 20; i++) {
				connected.push(await connect(name), (await connect(name)).send(partial));
			}
			const answered = await connect(name);
			await answered.send(request()).answer();

			const began = performance.now();
			process.kill(before.pid, 'SIGTERM');
			await until('it has ended', async () => !await isThere(before), { every: 5 });
			const took = performance.now() - began;
			assert.ok(took < 10_000, `it took ${took} ms`);

			await Promise.all([...connected, answered].map((peer) => peer.closed));
			await until('another serves', () => assertServes(name).then(() => true, () => false));
		});
	}
});

describe('damaged requests', () => {
	/** A generator of its own, so that a failure can be repeated. */
	function* numbers(seed) {
		for (let state = seed; ;) {
			state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
			yield state >>> 0;
		}
	}

	test('a thousand damaged requests: each is answered or closed, and the process stays', async () => {
		const before = await fixture.stack.program('status');
		const random = numbers(20_260_101);
		const next = (below) => random.next().value % below;

		for (let round = 0; round < 1_000; round++) {
			const bytes = Buffer.from(request(parameters({ query: 'a=b&c=d', cookie: 'x=y' }), Buffer.alloc(next(200))));
			for (let changes = 1 + next(4); changes > 0; changes--) {
				bytes[next(bytes.length)] = next(256);
			}
			const peer = await connect();
			peer.send(bytes);
			// What only looks unfinished would stall: it is not waited for here.
			await Promise.race([peer.closed, peer.answer().catch(() => {}), new Promise((resolve) => {
				setTimeout(resolve, 20);
			})]);
			void peer.close();
		}
		await assertServes();
		assert.deepEqual(await fixture.stack.program('status'), before);
	});
});

describe('the sockets', () => {
	for (const name of PROGRAMS) {
		test(`${name}: 0660, of the group that nginx runs in`, async () => {
			const { mode, gid } = await stat(path.join(fixture.stack.runDir, `sock/${name}.sock`));
			assert.equal(mode & 0o7777, 0o660);
			assert.equal(gid, (await stat(path.join(fixture.stack.runDir, 'nginx.pid'))).gid);
		});
	}

	test('no other user can connect', async () => {
		const socket = path.join(fixture.stack.runDir, 'sock/status.sock');
		assert.equal((await stat(socket)).mode & 0o007, 0, 'others have no permission');
		if (process.getuid() === 0) { // only root can become another user to try
			const program = `
				const socket = require('node:net').connect(${JSON.stringify(socket)});
				socket.on('connect', () => console.log('connected')).on('error', ({ code }) => console.log(code));
				socket.on('connect', () => socket.destroy());`;
			const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: '/', uid: 65_534, gid: 65_534 });
			assert.equal(stdout.trim(), 'EACCES');
		}
	});
});
