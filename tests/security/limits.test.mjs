// Every limit is a constant of lib/ or a line of nginx/urlmode/. A request at the limit is
// served, and one over it is refused. The limits of FastCGI are in fastcgi.test.mjs, those of
// deliveries in tests/e2e/delivery-limits.test.mjs, those of a form's fields in
// tests/unit/test_form.c.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, open, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { request } from '../support/http.mjs';
import { isThere } from '../support/processes.mjs';
import { assertSecurityHeaders } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { Tokens } from '../support/tokens.mjs';
import { until } from '../support/wait.mjs';
import { constant } from '../support/constants.mjs';
import { configure } from './deployment.mjs';
import { send } from './raw.mjs';

let fixture;
let link; // a good one: the path with its state

before(async () => {
	fixture = await openFixture({ name: 'limits', own: true });
	const { url } = await fixture.create();
	link = new URL(url).pathname + new URL(url).search;
});

after(() => fixture?.close());

const get = (target, headers = {}) => request(fixture.url(target), { headers });
const post = (body, headers = {}) => request(fixture.url('/connect/demo'), {
	method: 'POST', body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
});
const answered = ({ status, reason }) => [status, reason];
const TOO_LARGE = [400, 'parameters_too_large'];

/** Fields that make a query exactly so long, each within its own limit. */
function padded(text, size) {
	let result = text;
	for (let i = 0; result.length < size; i++) {
		const name = `&p${i}=`;
		const left = size - result.length - name.length;
		// A last piece must have room for its name.
		const value = left > 4_000 ? Math.min(4_000, left - 10) : left;
		result += name + 'v'.repeat(value);
	}
	assert.equal(result.length, size);
	return result;
}

describe('the query and the form', () => {
	const query = () => link.slice(link.indexOf('?') + 1);

	test('UM_QUERY_MAX bytes of a query', async () => {
		const max = constant('UM_QUERY_MAX');
		assert.equal((await get(`/connect/demo?${padded(query(), max)}`)).status, 200);
		assert.deepEqual(answered(await get(`/connect/demo?${padded(query(), max + 1)}`)), TOO_LARGE);
	});

	test('UM_BODY_MAX bytes of a form', async () => {
		const max = constant('UM_BODY_MAX');
		// Whatever is refused of it then is not its length.
		assert.deepEqual(answered(await post(padded(query(), max))), [403, 'wrong_browser']);
		assert.deepEqual(answered(await post(padded(query(), max + 1))), [413, 'body_too_large']);
	});
});

test('UM_COOKIE_MAX characters of the browser’s cookie', async () => {
	const max = constant('UM_COOKIE_MAX');
	const tokens = new Tokens(fixture.stack);
	const elicitation = await fixture.create();
	for (const [length, expected] of [[max, 200], [max + 1, 403]]) {
		const cookie = 'c'.repeat(length);
		const state = tokens.mint(elicitation, { purpose: 'connect', cookie });
		assert.equal((await get(`/connect/demo?state=${state}`, { Cookie: `__Host-urlmode=${cookie}` })).status, expected);
	}
});

test('UM_PROVIDER_MAX characters of a provider’s name', async () => {
	const max = constant('UM_PROVIDER_MAX');
	const check = (name) => {
		const config = { base_url: 'http://localhost', keys_file: fixture.stack.env.URLMODE_KEYS_FILE, database_url: 'postgresql://x@localhost/x',
			providers: { [name]: { kind: 'oauth' } } };
		return checkConfig(config);
	};
	assert.equal(await check('p'.repeat(max)), '');
	assert.match(await check('p'.repeat(max + 1)), /is not a name/);
});

/** What a program says of a configuration, without starting. */
async function checkConfig(config) {
	const file = path.join(fixture.stack.runDir, 'another.json');
	await writeFile(file, JSON.stringify(config), { mode: 0o600 });
	try {
		execFileSync(programFile(), ['--check'], { env: { URLMODE_CONFIG: file }, stdio: 'pipe' });
		return '';
	} catch (error) {
		return String(error.stderr);
	}
}

function programFile(name = 'connect') {
	const script = '. "$0" && printf %s "$PROGRAM_DIR"';
	const folder = execFileSync('bash', ['-c', script, path.join(fixture.stack.runDir, 'ports')], { encoding: 'utf8' });
	return path.join(folder, name);
}

describe('what nginx takes', () => {
	const KILOBYTE = 1_024;

	test('a request line of 24 KB, and no longer one', async () => {
		const fits = await get(`${link}&x=${'v'.repeat(23 * KILOBYTE)}`);
		assert.deepEqual(answered(fits), TOO_LARGE, 'the program’s own limit is the lower one');
		const over = await get(`${link}&x=${'v'.repeat(24 * KILOBYTE)}`);
		assert.equal(over.status, 414);
		assertSecurityHeaders(over);
	});

	test('a header field of 24 KB, and no longer one', async () => {
		assert.equal((await get(link, { 'X-Long': 'v'.repeat(23 * KILOBYTE) })).status, 200);
		const over = await get(link, { 'X-Long': 'v'.repeat(24 * KILOBYTE) });
		assert.equal(over.status, 400);
		assertSecurityHeaders(over);
	});

	test('a cookie header of 20 KB, and none of 24', async () => {
		const cookies = (bytes) => ({ Cookie: `x=${'v'.repeat(bytes)}` });
		assert.equal((await get(link, cookies(20 * KILOBYTE - 2))).status, 200);
		assert.equal((await get(link, cookies(24 * KILOBYTE))).status, 400);
	});

	test('40 KB of cookies in two lines, as they come over HTTP/2, reach the program', async () => {
		const line = (name) => `Cookie: ${name}=${'v'.repeat(20 * KILOBYTE)}`;
		const { status } = await send(fixture.stack.baseUrl, link, { headers: [line('a'), line('b')] });
		assert.equal(status, 200);
	});

	test('headers that fill all of its buffers are fewer than a program takes', async () => {
		const headers = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`X-Long-${i}`, 'v'.repeat(180)]));
		assert.equal((await get(link, headers)).status, 200);
		const conf = await readFile(path.join(fixture.stack.runDir, 'urlmode/server.conf'), 'utf8');
		const [, first] = /client_header_buffer_size (\d+)k;/.exec(conf);
		const [, count, size] = /large_client_header_buffers (\d+) (\d+)k;/.exec(conf);
		assert.ok((Number(first) + Number(count) * Number(size)) * KILOBYTE < constant('UM_FCGI_PARAMS_MAX'));
	});

	test('a body of 64 KB, and no longer one', async () => {
		// Both are more than a form may have: who says so is in the log.
		const upstreamOf = async (answer) => {
			assert.deepEqual(answered(answer), [413, 'body_too_large']);
			assertSecurityHeaders(answer);
			const id = answer.headers['x-request-id'];
			const line = await until('it is logged', async () => (
				(await fixture.stack.accessLog()).find(({ request_id: of }) => of === id)));
			return line.upstream_status;
		};
		assert.equal(await upstreamOf(await post('x'.repeat(64 * KILOBYTE))), '413');
		assert.equal(await upstreamOf(await post('x'.repeat(64 * KILOBYTE + 1))), '');
	});
});

describe('time for one request', { concurrency: true }, () => {
	// As it is before one of them changes it beside the other.
	let config;
	before(async () => {
		config = path.join(fixture.stack.runDir, 'config.cgi.json');
		await copyFile(fixture.stack.env.URLMODE_CONFIG, config);
	});

	// What nobody reads: a log that is a pipe.
	test('UM_LOOP_TURN_S: a program that its log keeps from its sockets is cut, and another serves', async () => {
		const pipe = path.join(fixture.stack.runDir, 'log/pipe');
		execFileSync('mkfifo', ['-m', '600', pipe]);
		const { uid, gid } = await stat(fixture.stack.env.URLMODE_CONFIG);
		await chown(pipe, uid, gid);
		const holder = await open(pipe, 'r+');
		let drain;
		try {
			await configure(fixture.stack, (config) => {
				config.log_file = pipe;
			});
			const before = await fixture.stack.program('connect');
			const began = performance.now();
			let cut = false;
			// Lines enough to fill the pipe; then one is not answered any more.
			const flood = Promise.all(Array.from({ length: 8 }, async () => {
				while (!cut) {
					await get('/connect/nobody').catch(() => {});
				}
			}));
			await until('it is cut', async () => !await isThere(before), { timeout: 90_000, every: 50 });
			assert.ok(performance.now() - began >= constant('UM_LOOP_TURN_S') * 1_000 - 100, 'not before its limit');

			cut = true;
			drain = spawn('cat', [pipe], { stdio: 'ignore' });
			await flood;
			await until('another serves', async () => (await get('/connect/nobody')).status === 404);
		} finally {
			await configure(fixture.stack, (config) => {
				delete config.log_file;
			});
			drain?.kill();
			await holder.close();
		}
	});

	test('UM_CGI_S: a plain CGI program whose body never comes is cut', async () => {
		const limit = constant('UM_CGI_S') * 1_000;
		const began = performance.now();
		const child = spawn(programFile('oauth-return'), [], {
			env: { URLMODE_CONFIG: config, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: 'POST', SCRIPT_NAME: '/oauth/demo/return',
				CONTENT_TYPE: 'application/x-www-form-urlencoded', CONTENT_LENGTH: '100' },
			stdio: ['pipe', 'ignore', 'ignore'],
		});
		child.stdin.write('state=');
		const [, signal] = await once(child, 'exit');
		assert.equal(signal, 'SIGALRM');
		assert.ok(performance.now() - began >= limit - 100);
	});
});
