// One JSON line a request, and never a secret in any log, whatever goes
// wrong: each code, state and cookie that was used here is looked for.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import { comeBack, press } from '../support/flow.mjs';
import { post, request } from '../support/http.mjs';
import { holdRow, untilHeld, waitLongerForLocks } from '../support/locks.mjs';
import { changeNginx, sendRaw } from '../support/nginx.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let fixture;

/** Everything that no log may hold: text → what it is. */
const secrets = new Map();
let codes = 0;

before(async () => {
	fixture = await openFixture({ name: 'logs', own: true });
	await waitLongerForLocks(fixture.stack);
});

after(() => fixture?.close());

/** A code with characters that are spelled otherwise in a URL, in a form and in JSON. */
function newCode() {
	codes += 1;
	const code = `secret-code/${codes}+ü="\\ end`;
	secrets.set(code, 'a code');
	return code;
}

function secret(what, text) {
	secrets.set(text, what);
	return text;
}

/** A flow under way, whose secrets are noted. */
async function goOn(browser = fixture.browser(), options) {
	const flow = await fixture.goOn(browser, { pkce: true, ...options });
	const cookie = browser.jar.header(new URL(fixture.url('/')));
	const [[, bound]] = flow.confirm.forms[0].fields;

	secret('a link', new URL(flow.url).searchParams.get('state'));
	secret('a confirm page', bound);
	secret('a state', flow.state);
	secret('a cookie', cookie.match(/__Host-urlmode=([^;]*)/)[1]);
	return { browser, cookie, bound, ...flow };
}

/** The spellings in which a text may have come into a log. */
function spellings(text) {
	const percent = encodeURIComponent(text);
	return new Set([
		text, percent, percent.toLowerCase(), new URLSearchParams([['', text]]).toString().slice(1),
		JSON.stringify(text).slice(1, -1), Buffer.from(text).toString('latin1'),
		text.replace(/["\\]|[^ -~]/g, (one) => [...Buffer.from(one)]
			.map((byte) => `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')),
	]);
}

async function assertNoSecret() {
	for (const [name, text] of await fixture.stack.logs()) {
		for (const [value, what] of secrets) {
			for (const spelling of spellings(value)) {
				assert.ok(!text.includes(spelling), `${what} is in ${name}: ${spelling}`);
			}
		}
		assert.doesNotMatch(text, /state=|code=|iss=|%3D|__Host-|secret-code/i, name);
	}
}

const lineOf = ({ headers }) => until('it is in the log', async () => (
	(await fixture.stack.programLog()).find(({ request: id }) => id === headers['x-request-id'])));

describe('one line a request', () => {
	test('with time, program, request, provider, elicitation, outcome, reason and milliseconds', async () => {
		const { browser, ...flow } = await goOn();
		const elicitation = flow.id;
		const back = await comeBack(browser, flow.returnTo({ code: newCode() }));
		const again = await comeBack(browser, flow.returnTo({ code: newCode() }));
		const refused = await goOn(browser);
		const refusal = await comeBack(browser, refused.returnTo({ error: 'access_denied' }));
		const done = await browser.send({ url: new URL(fixture.url('/done')) });
		const [link, button] = browser.history;

		for (const [hop, expected] of [
			[link, { program: 'connect', provider: 'demo', elicitation, status: 200, outcome: 'pending', reason: '' }],
			[button, { program: 'connect', provider: 'demo', elicitation, status: 303, outcome: 'opened', reason: '' }],
			[back, { program: 'oauth-return', provider: 'demo', elicitation, status: 303, outcome: 'completed', reason: '' }],
			[again, { program: 'oauth-return', provider: 'demo', elicitation, status: 200, outcome: 'already', reason: '' }],
			[refusal, { program: 'oauth-return', provider: 'demo', elicitation: refused.id, status: 303, outcome: 'completed', reason: 'access_denied' }],
			[done, { program: 'status', provider: '', elicitation: '', status: 200, outcome: 'declined', reason: '' }],
			[await request(fixture.url('/connect/nobody')), { program: 'connect', provider: '', elicitation: '', status: 404, outcome: 'refused', reason: 'unknown_provider' }],
			[await request(fixture.url('/connect/github')), { program: 'connect', provider: 'github', elicitation: '', status: 400, outcome: 'refused', reason: 'state_missing' }],
		]) {
			const { time, ms, request: id, ...line } = await lineOf(hop);
			assert.deepEqual(line, expected);
			assert.match(time, TIME);
			assert.ok(Math.abs(Date.now() - Date.parse(time)) < 600_000);
			assert.ok(typeof ms === 'number' && ms >= 0 && ms < 600_000, `${ms} ms`);
			assert.equal(id, hop.headers['x-request-id']);
		}
		assert.match(elicitation, UUID);
	});

	test('exactly one, and one of the web server with the same request id', async () => {
		const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => request(fixture.url(
			['/connect/demo', '/oauth/demo/return', '/done', '/healthz'][i % 4]))));
		await Promise.all(answers.map(lineOf));

		const programLog = await fixture.stack.programLog();
		const accessLog = await fixture.stack.accessLog();
		for (const { status, headers: { 'x-request-id': id } } of answers) {
			const [line, ...more] = programLog.filter((one) => one.request === id);
			assert.deepEqual([line.status, more], [status, []]);
			const [access, ...others] = accessLog.filter((one) => one.request_id === id);
			assert.deepEqual([access.status, others], [String(status), []]);
		}
	});

	test('the trace of a request is in both, and nothing that is no trace', async () => {
		const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
		const wrong = [good.replace('00-', '01-'), good.toUpperCase(), `${good}-more`, good.replace(/4bf9.{28}/, '0'.repeat(32)), good.replace(/00f0.{12}/, '0'.repeat(16)), 'a trace', ''];
		for (const [traceparent, logged] of [[good, good], ...wrong.map((text) => [text, undefined])]) {
			for (const url of [fixture.url('/connect/demo'), fixture.url('/webhook/stripe')]) {
				const answer = await request(url, { headers: { traceparent } });
				assert.equal((await lineOf(answer)).traceparent, logged, traceparent);
				const id = answer.headers['x-request-id'];
				const access = await until('nginx has logged it', async () =>
					(await fixture.stack.accessLog()).find(({ request_id: one }) => one === id));
				assert.equal(access.traceparent, logged ?? '', traceparent);
			}
		}
	});

	test('every line is JSON, whatever the request', async () => {
		await sendRaw(fixture.stack, 'GET /connect/de"mo\\x\x01\xff?state="} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
		await request(fixture.url('/connect/%22%0a%7b?x=%22%0a%7b'));

		for (const name of ['connect', 'oauth-return', 'status']) {
			const text = await readFile(`${fixture.stack.runDir}/log/${name}.log`, 'utf8');
			for (const line of text.trimEnd().split('\n')) {
				assert.equal(JSON.parse(line).program, name);
			}
		}
	});
});

describe('no secret, after', () => {
	/** Each is a test, after which the logs of everything so far are searched. */
	function leaves(name, action) {
		test(name, async () => {
			await action();
			await assertNoSecret();
		});
	}

	leaves('everything that is refused', async () => {
		const { browser, cookie, ...flow } = await goOn();
		const returned = (change) => flow.returnTo({ code: newCode(), ...change });
		const tampered = secret('a tampered state', `${flow.state.slice(0, -2)}AA`);
		const headers = { Cookie: cookie, Referer: String(returned()) };

		for (const url of [
			`${returned()}&state=${flow.state}`,
			String(returned()).replace(/\bcode=[^&]*/, 'code=%zz'),
			String(returned({ iss: secret('another iss', 'https://mallory.example/issuer') })),
			String(returned({ error: 'access_denied' })),
			String(returned()).replace(flow.state, tampered),
			String(returned()).replace('/demo/', '/nobody/'),
			String(returned()).replace('/return?', '/return%3F'),
			String(returned()).replace('/oauth/demo/return', `/oauth/demo/return/${flow.state}`),
			String(returned()).replace('/oauth', ''),
			`${flow.url}&state=${flow.bound}`,
		]) {
			const { status } = await request(url, { headers });
			assert.ok(status >= 400 && status < 500, `${status}: ${url}`);
		}
		assert.equal((await request(returned())).status, 403);
	});

	leaves('what nginx refuses itself', async () => {
		const { cookie, ...flow } = await goOn();
		const query = new URLSearchParams(flow.parameters({ code: newCode() }));
		const url = `${flow.returnUrl}?${query}`;
		const { pathname } = new URL(flow.returnUrl);
		const head = `Host: a\r\nCookie: ${cookie}\r\nReferer: ${url}\r\nConnection: close\r\n`;

		assert.equal((await request(`${url}&x=${'y'.repeat(30_000)}`)).status, 414);
		assert.equal((await post(flow.returnUrl, { ...flow.parameters({ code: newCode() }), x: 'y'.repeat(70_000) })).status, 413);
		assert.equal((await request(url, { headers: { Cookie: cookie, 'X-Long': 'x'.repeat(30_000) } })).status, 400);
		for (const [bytes, status] of [
			[`GET ${pathname}?${query} HTTP/1.1\r\n${head}Content-Length: ${flow.state}\r\n\r\n`, 400],
			[`GET ${pathname}?${query} HTTP/1.1\r\n${head}Host: ${flow.state}\r\n\r\n`, 400],
			[`GET ${pathname}?${query} HTTP/9.9\r\n${head}\r\n`, 505],
			[`GET ${pathname}?${query} is no HTTP\r\n${head}\r\n`, 400],
			[`GET ${flow.state} HTTP/1.1\r\n${head}\r\n`, 400],
			[`${flow.state} / HTTP/1.1\r\n${head}\r\n`, 400],
			[`TRACE ${pathname}?${query} HTTP/1.1\r\n${head}\r\n`, 405],
			[`POST ${pathname}?${query} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${flow.state}\r\n`, 400],
			[`GET http://a${pathname}?${query} HTTP/1.1\r\n${head}\r\n`, 303],
		]) {
			const [first] = (await sendRaw(fixture.stack, bytes)).split('\r\n');
			assert.match(first, new RegExp(`^HTTP/1\\.1 ${status}`), bytes.slice(0, 60));
		}
	});

	leaves('too many requests from one address', async () => {
		const { returnTo } = await goOn();
		const url = returnTo({ code: newCode() });
		const answers = await Promise.all(Array.from({ length: 150 },
			() => request(url, { localAddress: '127.0.0.2' })));

		assert.ok(answers.some(({ status }) => status === 429));
	});

	leaves('a program that is killed with a request in its hands', async () => {
		const { browser, ...flow } = await goOn();
		const lock = await holdRow(fixture.stack, flow.id);
		try {
			const hop = comeBack(browser, flow.returnTo({ code: newCode() }));
			await untilHeld(fixture.stack, 'oauth-return');
			process.kill((await fixture.stack.program('oauth-return')).pid, 'SIGKILL');
			const { status } = await hop;
			assert.ok(status === 502 || status === 503, `${status}: nginx's page, or the successor's, to which it is sent again`);
		} finally {
			await lock.release();
		}
	});

	leaves('a program that is frozen', async () => {
		const { browser, ...flow } = await goOn();
		const { pid } = await until('it is there', () => fixture.stack.program('oauth-return'));
		const patience = (text) => changeNginx(fixture.stack, 'fastcgi.conf', [[/fastcgi_read_timeout .*;/, text]]);

		await patience('fastcgi_read_timeout 1s;');
		process.kill(pid, 'SIGSTOP');
		try {
			assert.equal((await comeBack(browser, flow.returnTo({ code: newCode() }))).status, 504);
		} finally {
			process.kill(pid, 'SIGCONT');
			await patience('fastcgi_read_timeout 30s;');
		}
	});

	leaves('programs that are not there', async () => {
		const { browser, ...flow } = await goOn();
		await fixture.stack.service('stop', 'oauth-return', 'connect');
		assert.equal((await comeBack(browser, flow.returnTo({ code: newCode() }))).status, 502);
		assert.equal((await request(flow.url)).status, 502);
		assert.equal((await press(browser, flow.confirm, 'continue')).status, 502);
		await fixture.stack.service('start', 'connect', 'oauth-return');
	});

	leaves('a client that goes away', async () => {
		const { browser, ...flow } = await goOn();
		const lock = await holdRow(fixture.stack, flow.id);
		try {
			const gone = comeBack(browser, flow.returnTo({ code: newCode() }));
			gone.catch(() => {});
			await untilHeld(fixture.stack, 'oauth-return');
			browser.close();
			await assert.rejects(gone);
		} finally {
			await lock.release();
		}
	});

	leaves('a row that PostgreSQL refuses, and PostgreSQL away', async () => {
		const { browser, ...flow } = await goOn();
		await fixture.stack.sql(`
			ALTER TABLE urlmode.elicitation ADD CONSTRAINT spoilt CHECK (reason <> 'provider_error')`);
		assert.equal((await comeBack(browser, flow.returnTo({ error: 'server_error', error_description: newCode() }))).status, 500);
		await fixture.stack.service('stop', 'postgres');
		assert.equal((await comeBack(browser, flow.returnTo({ code: newCode() }))).status, 503);
		assert.equal((await press(browser, flow.confirm, 'refuse')).status, 503);
		await fixture.stack.service('start', 'postgres');
	});

	leaves('the whole stack was stopped', async () => {
		const config = await readFile(fixture.stack.env.URLMODE_CONFIG, 'utf8');
		const keys = await readFile(fixture.stack.env.URLMODE_KEYS_FILE, 'utf8');
		secret('a key', keys.trim().split(' ')[1]);
		secret("the programs' password", new URL(JSON.parse(config).database_url).password);
		for (const name of ['URLMODE_DATABASE_URL', 'URLMODE_ADMIN_DATABASE_URL']) {
			secret(`the password of ${name}`, new URL(fixture.stack.env[name]).password);
		}
		await fixture.stack.service('stop', 'nginx', 'connect', 'oauth-return', 'status', 'postgres');
	});

	test('the logs are not empty', async () => {
		const logs = await fixture.stack.logs();
		const accessLog = await fixture.stack.accessLog();

		for (const name of ['access.log', 'nginx-error.log', 'connect.log', 'oauth-return.log', 'status.log', 'postgres.log']) {
			assert.ok(logs.get(name)?.length > 0, name);
		}
		for (const status of ['200', '303', '400', '403', '404', '405', '413', '414', '429', '500', '502', '503', '504']) {
			assert.ok(accessLog.some((line) => line.status === status), `${status} was logged`);
		}
		assert.ok(secrets.size > 30);
	});
});
