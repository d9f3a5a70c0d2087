// The same binaries as plain CGI, on the same rows as the FastCGI programs.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { comeBack, goOn } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { openFixture } from '../support/fixture.mjs';
import { CGI_SERVERS, installPrograms } from '../support/servers.mjs';

let fixture;
let installed;

before(async () => {
	fixture = await openFixture({ name: 'cgi', own: true });
	installed = fixture.closeAtEnd(await installPrograms(fixture.stack));
});

after(() => fixture?.close());

const outcomeOf = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 });

for (const [name, start] of CGI_SERVERS) {
	describe(`under ${name}`, () => {
		let server;

		before(async () => {
			server = fixture.closeAtEnd(await start(installed));
		});

		/** The same address at the other server; cookies know no ports. */
		const there = (url) => new URL(String(url).replace(fixture.stack.baseUrl, server.baseUrl));

		test('the whole way', async () => {
			const urlmode = fixture.openUrlMode({ baseUrl: server.baseUrl });
			const browser = fixture.browser();
			const flow = await goOn(urlmode, browser, { issuer: fixture.stack.env.URLMODE_DEMO_ISSUER });
			const wait = urlmode.waitForCompletion(flow.id, flow.owner);
			const done = await browser.open(flow.returnTo({ code: 'by CGI' }));

			assert.equal(flow.confirm.find('bdi')[0].text, 'Tests & Co');
			assert.deepEqual(done.hops.map(({ status }) => status), [303, 200]);
			assert.equal(done.url, `${server.baseUrl}/done`);
			assert.equal(done.find('h1')[0].text, 'You can go back');
			assert.equal((await wait).result.code, 'by CGI');
		});

		test('what FastCGI began it ends, and the other way round', async () => {
			const browser = fixture.browser();
			const flow = await fixture.goOn(browser);
			const hop = await comeBack(browser, there(flow.returnTo({ code: 'c' })));
			assert.deepEqual([hop.status, hop.location], [303, '/done']);
			assert.match((await comeBack(browser, flow.returnTo({ code: 'c' }))).body, /Already done/);
			assert.match((await comeBack(browser, there(flow.returnTo({ code: 'c' })))).body, /Already done/);

			const other = await fixture.create();
			const page = await browser.open(there(other.url));
			assert.equal((await browser.submit(page, { button: 'refuse' })).find('h1')[0].text, 'Declined');
			assert.deepEqual((await outcomeOf(other)).action, 'decline');
		});

		test('form_post, with a body', async () => {
			const browser = fixture.browser();
			const flow = await fixture.goOn(browser);
			const hop = await browser.send({
				url: there(flow.returnUrl),
				method: 'POST',
				body: new URLSearchParams(flow.parameters({ code: 'x'.repeat(4_000) })).toString(),
			});

			assert.deepEqual([hop.status, hop.location], [303, '/done']);
			assert.equal((await outcomeOf(flow)).result.code.length, 4_000);
		});

		test('refuses as FastCGI does', async () => {
			for (const [route, status, reason, options] of [
				['/connect/demo', 400, 'state_missing'],
				['/connect/nobody', 404, 'unknown_provider'],
				['/connect/demo?state=x&state=x', 400, 'duplicate_parameter'],
				['/oauth/demo/return?state=x', 400, 'state_invalid'],
				['/oauth/demo/elsewhere', 404, 'unknown_route'],
				['/oauth/demo/return?--check', 400, 'state_missing'],
				['/oauth/demo/return', 405, 'method_not_allowed', { method: 'PUT' }],
				['/done', 405, 'method_not_allowed', { method: 'POST' }],
				['/connect/demo', 413, 'body_too_large', { method: 'POST', body: 'x'.repeat(30_000), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
			]) {
				const answer = await request(server.baseUrl + route, options);
				assert.deepEqual([answer.status, answer.reason], [status, reason], route);
				assert.match(answer.headers['x-request-id'], /^[0-9a-f]{32}$/);
			}
			const health = await request(`${server.baseUrl}/healthz`);
			assert.deepEqual([health.status, JSON.parse(health.body).status], [200, 'ok']);
		});

		test('answers 503 while PostgreSQL is away', async () => {
			const browser = fixture.browser();
			const flow = await fixture.goOn(browser);
			const url = there(flow.returnTo({ code: 'late' }));

			await fixture.stack.service('stop', 'postgres');
			const [away, health] = await Promise.all([
				comeBack(browser, url), request(`${server.baseUrl}/healthz`),
			]);
			assert.deepEqual([away.status, away.headers['retry-after'], away.headers.refresh], [503, '3', '3']);
			assert.equal(health.status, 503);
			assert.equal((await request(`${server.baseUrl}/oauth/demo/return?state=x`)).status, 400);
			await fixture.stack.service('start', 'postgres');
			await fixture.untilServing();
			assert.equal((await comeBack(browser, url)).location, '/done');
			assert.equal((await outcomeOf(flow)).result.code, 'late');
		});
	});
}

test('one log line a request, in the file of the configuration; no secret in any log', async () => {
	const lines = (await readFile(installed.log, 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line));

	assert.ok(lines.length >= 40, `${lines.length} lines`);
	for (const { program, request: id, notice } of lines) {
		assert.ok(['connect', 'oauth-return', 'status'].includes(program));
		assert.ok(/^[0-9a-f]{32}$/.test(id) || notice !== undefined);
	}
	for (const [name, text] of await fixture.stack.logs()) {
		assert.doesNotMatch(text, /state=|code=|by CGI|x{100}/, name);
	}
});

test('from a bare environment: one request from it and from standard input', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	const body = new URLSearchParams(flow.parameters({ code: 'bare' })).toString();
	const child = spawn(path.join(installed.folder, 'bin/oauth-return'), [], {
		...await fixture.stack.user(),
		stdio: ['pipe', 'pipe', 'inherit'],
		env: {
			REQUEST_METHOD: 'POST', SCRIPT_NAME: '/oauth', PATH_INFO: '/demo/return',
			CONTENT_TYPE: 'application/x-www-form-urlencoded', CONTENT_LENGTH: String(body.length),
			HTTP_COOKIE: browser.jar.header(new URL(flow.returnUrl)), URLMODE_CONFIG: installed.config,
		},
	});
	child.stdin.end(`${body}&this=is+not+read`);
	const chunks = [];
	child.stdout.on('data', (chunk) => chunks.push(chunk));
	const [status] = await once(child, 'close');
	const answer = Buffer.concat(chunks).toString();

	assert.equal(status, 0);
	assert.match(answer, /^Status: 303\r\n/);
	assert.match(answer, /\r\nLocation: \/done\r\n/);
	assert.deepEqual((await outcomeOf(flow)).result, { code: 'bare', iss: fixture.stack.env.URLMODE_DEMO_ISSUER });
});
