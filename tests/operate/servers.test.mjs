// Other web servers with the files of nginx/others, in front of one stack: each
// walks the whole way, refuses what nginx refuses, has one answer for each path,
// and logs nothing that is secret. What is peculiar to CGI is in cgi.test.mjs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { configure } from '../security/deployment.mjs';
import { send as sendRaw } from '../security/raw.mjs';
import { post, sender } from '../support/deliveries.mjs';
import { create, goOn, press, PROVIDER_PAGE } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { titleOf } from '../support/pages.mjs';
import { CGI_SERVERS, installPrograms, SERVERS } from '../support/servers.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const SECRET = 'nobody-may-log-this';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const isCgi = (name) => CGI_SERVERS.some(([known]) => known === name);

let fixture;
let installed;
const servers = new Map();

before(async () => {
	fixture = await openFixture({ name: 'servers', own: true });
	installed = fixture.closeAtEnd(await installPrograms(fixture.stack));
	servers.set('nginx', { baseUrl: fixture.stack.baseUrl });
	await Promise.all(Object.entries(SERVERS).map(async ([name, start]) => {
		servers.set(name, fixture.closeAtEnd(await start(installed)));
	}));
});

after(() => fixture?.close());

/** What `of` finds out about each server, beside its name: one answer everywhere. */
async function assertEverywhere(expected, of) {
	const found = await Promise.all([...servers].map(async ([name, { baseUrl }]) => [name, await of(baseUrl, name)]));
	assert.deepEqual(Object.fromEntries(found), Object.fromEntries([...servers.keys()].map((name) => [name, expected])));
}

for (const name of Object.keys(SERVERS)) {
	describe(`behind ${name}`, () => {
		let baseUrl;
		let urlmode;

		before(() => {
			({ baseUrl } = servers.get(name));
			urlmode = fixture.openUrlMode({ baseUrl });
		});

		/** The delivery, sent to this server. */
		async function deliver(from, event, { chunked = false } = {}) {
			const { url, headers, ...delivery } = await from.deliver(event);
			return post({
				...delivery, url: url.replace(fixture.stack.baseUrl, baseUrl),
				headers: { ...headers, ...chunked && { 'Transfer-Encoding': 'chunked' } },
			});
		}

		test('an account: connect, return, /done', async () => {
			const browser = fixture.browser();
			const flow = await goOn(urlmode, browser, { issuer: fixture.stack.env.URLMODE_DEMO_ISSUER });
			const wait = urlmode.waitForCompletion(flow.id, flow.owner);
			const done = await browser.open(flow.returnTo({ code: SECRET }));

			assert.deepEqual(done.hops.map(({ status }) => status), [303, 200]);
			assert.deepEqual([done.url, titleOf(done)], [`${baseUrl}/done`, 'You can go back']);
			assert.equal((await wait).result.code, SECRET);
		});

		test('a payment: its page follows /status, and a signed webhook completes it, chunked or not', async () => {
			const stripe = sender(fixture, 'stripe');

			for (const chunked of [false, true]) {
				const payment = await create(urlmode, {
					provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE,
				});
				const browser = fixture.browser();
				await press(browser, await browser.open(payment.url), 'continue');
				assert.equal(titleOf(await browser.open(payment.returnUrl)), 'Waiting for confirmation');
				const status = new URL(`${baseUrl}/status?provider=stripe&${new URL(payment.returnUrl).searchParams}`);
				assert.equal(JSON.parse((await browser.send({ url: status, from: PROVIDER_PAGE })).body).status, 'opened');
				const pad = 'x'.repeat(40_000); // more than a web server reads at once
				const answer = await deliver(stripe, { ...stripe.event(payment.id, 'paid', PRICE), pad }, { chunked });
				assert.equal(answer.status, 200, `chunked: ${chunked}`);
				assert.equal((await urlmode.waitForCompletion(payment.id, payment.owner)).action, 'accept');
				assert.equal((await browser.open(payment.returnUrl)).url, `${baseUrl}/done`);
			}
		});

		test('an unsigned webhook is 401, and its answer no page', async () => {
			const answer = await post({ url: `${baseUrl}/webhook/stripe`, method: 'POST', headers: FORM, body: '{}' });
			assert.deepEqual([answer.status, answer.headers['content-type']], [401, 'text/plain; charset=utf-8']);
		});
	});
}

describe('one answer everywhere', () => {
	test('to a path: what is not written as a route is none', async () => {
		for (const target of [
			'/', '/connect', '/oauth', '/connect/', '/connect/..', '/CONNECT/demo', '/connect/demo/', '/connect/demo;x',
			'//connect/demo', '/connect//demo', '//connect//demo', '/./connect/demo', '/connect/x/../demo', '/connect/../done',
			'/connect/%64emo', '/%63onnect/demo', '/connect%2fdemo', '/connect/demo%2f', '/connect/x%2f..%2fdemo', '/oauth/demo/%72eturn',
			'/oauth/demo/return/', `/connect/demo%3Fstate=${SECRET}`, '/connect/demo%20', '/done/', '/done/x', '/%64one', '/./done',
			'/done%2f', '/%68ealthz', '//healthz', '/connect/../metrics', '/index.html', '/.git/config',
		]) {
			await assertEverywhere([target, 404], async (baseUrl) => [target, (await sendRaw(baseUrl, target)).status]);
		}
	});

	test('to a path that is none: refused by the web server, or by the program', async () => {
		for (const target of ['/connect/demo%', '/connect/demo%zz', '/connect/demo%00', '/connect/demo%0a', '/.%2e/done', '/../done', '/connect/\xe9']) {
			await assertEverywhere([target, true], async (baseUrl) => (
				[target, [400, 404].includes((await sendRaw(baseUrl, target)).status)]));
		}
	});

	test('to an address with its host (RFC 9112 section 3.2.2)', () => (
		assertEverywhere(200, async (baseUrl) => (await sendRaw(baseUrl, `${baseUrl}/done`)).status)));

	test('to a path from outside that only resolves to a page for inside', async () => {
		for (const target of ['/%68ealthz', '//metrics', '/connect/../healthz', '/healthz/live', '/metrics/x']) {
			await assertEverywhere([target, false], async (baseUrl) => (
				[target, (await request(baseUrl + target, { localAddress: '127.0.0.2' })).status === 200]));
		}
	});

	test('to what is refused', async () => {
		for (const [target, status, options] of [
			['/connect/demo', 400],
			['/connect/demo?state=x', 400],
			['/connect/nobody', 404],
			['/oauth/demo/return', 405, { method: 'PUT' }],
			['/done', 405, { method: 'POST', headers: FORM, body: 'a=b' }],
			['/connect/demo', 415, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }],
			['/connect/demo', 413, { method: 'POST', headers: FORM, body: 'x'.repeat(20_000) }],
			['/connect/demo', 413, { method: 'POST', headers: FORM, body: 'x'.repeat(100_000) }],
			['/form/intake', 400, { method: 'POST', headers: FORM, body: 'x'.repeat(200_000) }],
			['/form/intake', 413, { method: 'POST', headers: FORM, body: 'x'.repeat(300_000) }],
			['/webhook/stripe', 413, { method: 'POST', headers: FORM, body: 'x'.repeat(4_200_000) }],
			['/healthz', 200],
			['/metrics', 200],
			['/healthz', 403, { localAddress: '127.0.0.2' }],
			['/metrics', 403, { localAddress: '127.0.0.2' }],
		]) {
			await assertEverywhere([target, status], async (baseUrl) => [target, (await request(baseUrl + target, options)).status]);
		}
	});

	test('405 names what is allowed', () => assertEverywhere('GET, HEAD, POST', async (baseUrl) => (
		(await request(`${baseUrl}/connect/demo`, { method: 'PUT' })).headers.allow)));

	test('a query of 8 KB passes; a header of 30 KB does not', async () => {
		await assertEverywhere(400, async (baseUrl) => (await request(`${baseUrl}/connect/demo?state=${'x'.repeat(8_000)}`)).status);
		await assertEverywhere(true, async (baseUrl) => [400, 431].includes(
			(await request(`${baseUrl}/connect/demo?state=${SECRET}`, { headers: { 'X-Long': SECRET.repeat(1_600) } })).status));
	});

	test('more than a program takes is refused, where not by the web server', async () => {
		const headers = Object.fromEntries(['X-A', 'X-B', 'X-C'].map((name) => [name, 'x'.repeat(22_000)]));
		const chunked = { method: 'POST', headers: { ...FORM, 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(4_600_000) };
		const gone = { status: 413 }; // It was refused while it was still being sent.

		await assertEverywhere(true, async (baseUrl, name) => {
			const { status } = await request(`${baseUrl}/done`, { headers });
			return [400, 431, 502, 503].includes(status) || (status === 200 && isCgi(name)); // Only FastCGI limits them.
		});
		await assertEverywhere(true, async (baseUrl) => (
			[413, 502, 503].includes((await request(`${baseUrl}/webhook/stripe`, chunked).catch(() => gone)).status)));
		await assertEverywhere(200, async (baseUrl) => (await request(`${baseUrl}/done`)).status);
	});

	test('the pages of programs keep their headers, each of them once', async () => {
		for (const name of ['cache-control', 'referrer-policy', 'x-content-type-options', 'content-security-policy', 'x-request-id']) {
			await assertEverywhere([name, 1], async (baseUrl) => (
				[name, (await sendRaw(baseUrl, '/connect/demo')).headers.filter(([known]) => known === name).length]));
		}
	});
});

describe('who the user is', () => {
	const PASSWORD = 'a password';
	const basic = ({ owner }, password) => ({
		Authorization: `Basic ${Buffer.from(`${owner.subject}:${password}`).toString('base64')}`,
	});

	before(async () => {
		const change = (config) => { config.user_check = 'remote-user'; };
		await configure(fixture.stack, change);
		await installed.configure(change);
	});

	test('not a name that the client claims', async () => {
		const link = await fixture.create();
		const name = link.owner.subject;
		const headers = { ...basic(link, 'x'), 'Remote-User': name, 'Remote_User': name, 'X-Remote-User': name };
		await assertEverywhere([500, 'sign_in_not_set_up'], async (baseUrl) => {
			const { status, reason } = await request(link.url.replace(fixture.stack.baseUrl, baseUrl), { headers });
			return [status, reason];
		});
	});

	for (const [name, language] of [
		['Apache’s mod_proxy_fcgi', 'apache'], ['Apache’s mod_cgid', 'apache'], ['lighttpd', 'lighttpd'], ['Caddy', 'caddy'],
	]) {
		test(`${name}: whose password it has checked, as nginx/others/README.md sets it up`, async () => {
			const readme = await readFile(new URL('../../nginx/others/README.md', import.meta.url), 'utf8');
			const [, lines] = new RegExp('^```' + language + '\n(.*?)^```$', 'ms').exec(readme);
			const link = await fixture.create({ subject: 'ada@example.org' });
			const file = path.join(installed.folder, 'htpasswd');
			await writeFile(file, `${link.owner.subject}:${execFileSync('openssl', ['passwd', '-apr1', PASSWORD])}`);
			const server = fixture.closeAtEnd(await SERVERS[name](installed, lines
				.replace(/\/etc\/\S*htpasswd/, file)
				.replace('$2a$14$…', () => execFileSync('caddy', ['hash-password', '--plaintext', PASSWORD]).toString().trim())));
			const open = (headers) => request(link.url.replace(fixture.stack.baseUrl, server.baseUrl), { headers });

			assert.equal((await open()).status, 401);
			assert.equal((await open(basic(link, 'another'))).status, 401);
			const { status, location } = await open(basic(link, PASSWORD));
			assert.equal(status, 303);
			assert.equal(new URL(location).hostname, 'localhost');
			assert.equal((await request(`${server.baseUrl}/done`)).status, 200);
		});
	}
});

describe('users who sign in at the OpenID provider', () => {
	let provider;
	const at = (name) => path.join(fixture.stack.runDir, name);

	before(async () => {
		provider = fixture.closeAtEnd(await startOpenIdProvider('google'));
		await writeFile(at('jwks.json'), JSON.stringify(provider.jwks));
		const change = (config) => {
			config.user_check = 'openid';
			config.openid = { ...provider.openid, jwks_file: at('jwks.json'), refresh_file: at('metrics-refresh') };
		};
		await configure(fixture.stack, change);
		await installed.configure(change);
	});

	const cookiesOf = ({ headers }) => headers['set-cookie'].map((line) => line.split(';')[0]).join('; ');

	/** Opens a link at a server, and comes back to it from the provider with this token. */
	async function signIn(baseUrl, link, tokenFor = (nonce) => provider.idToken('ada', nonce)) {
		const begun = await request(link.url.replace(fixture.stack.baseUrl, baseUrl));
		assert.equal(begun.status, 303);
		assert.ok(begun.location.startsWith(`${provider.origin}/authorize?response_type=id_token&`));
		const { state, nonce } = Object.fromEntries(new URL(begun.location).searchParams);
		return request(`${baseUrl}/signin/return`, {
			method: 'POST', headers: { ...FORM, Cookie: cookiesOf(begun), Origin: provider.origin },
			body: new URLSearchParams({ state, id_token: tokenFor(nonce) }).toString(),
		});
	}

	test('there and back: the session opens the link', () => assertEverywhere([303, 303, 'opened'], async (baseUrl) => {
		const link = await fixture.create({ subject: provider.subject('ada') });
		const back = await signIn(baseUrl, link);
		assert.match(back.location, /^\/connect\/demo\?state=[\w-]{43}&signin=done$/);
		const gone = await request(baseUrl + back.location, { headers: { Cookie: cookiesOf(back) } });
		return [back.status, gone.status, (await fixture.stack.elicitation(link.id)).status];
	}));

	test('as somebody else: refused, and the link stays', () => assertEverywhere([403, 'wrong_user', 'pending'], async (baseUrl) => {
		const link = await fixture.create();
		const back = await signIn(baseUrl, link);
		const { status, reason } = await request(baseUrl + back.location, { headers: { Cookie: cookiesOf(back) } });
		return [status, reason, (await fixture.stack.elicitation(link.id)).status];
	}));

	test('a key that is not in the file: refused, and the program asks for it', async () => {
		const link = await fixture.create({ subject: provider.subject('ada') });
		const other = await startOpenIdProvider('google');
		await other.close();
		for (const [name, { baseUrl }] of servers) {
			await rm(at('metrics-refresh'), { force: true });
			const { status, reason } = await signIn(baseUrl, link, (nonce) => other.idToken('ada', nonce));
			assert.deepEqual([status, reason, existsSync(at('metrics-refresh'))], [403, 'unknown_signing_key', true], name);
		}
	});

	test('the return takes nothing but the form', () => assertEverywhere([405, 415, 413, 404], async (baseUrl) => Promise.all([
		['/signin/return', { method: 'PUT' }],
		['/signin/return', { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }],
		['/signin/return', { method: 'POST', headers: FORM, body: 'x'.repeat(100_000) }],
		['/signin/return/', { method: 'POST', headers: FORM, body: 'state=x' }],
	].map(async ([target, options]) => (await request(baseUrl + target, options)).status))));
});

test('a program that is not there is 5xx, and the answer is not kept', async () => {
	await fixture.stack.service('stop', 'connect');
	await rename(path.join(installed.folder, 'bin/connect'), path.join(installed.folder, 'bin/gone'));
	for (const [name, { baseUrl }] of servers) {
		const answer = await request(`${baseUrl}/connect/demo?state=${SECRET}`, { headers: { Referer: `http://x/?${SECRET}` } });
		assert.ok(isCgi(name) ? answer.status >= 400 : [502, 503].includes(answer.status), `${name} answered ${answer.status}`);
		assert.ok(isCgi(name) || answer.headers['cache-control'] === 'no-store', name);
		assert.ok(!answer.body.includes(SECRET), name);
	}
});

test('no log has a code, a state or a query; each access log names the routes', async () => {
	for (const { baseUrl } of servers.values()) {
		for (const [target, options] of [
			[`/connect/${SECRET}${'x'.repeat(115)}`, {}],
			[`/connect/demo?state=${SECRET}${'x'.repeat(40_000)}`, {}],
			[`/connect/demo?state=${SECRET}`, { method: 'TRACE' }],
			[`/connect/demo?state=${SECRET}`, { headers: ['Host: a', 'Host: b'] }],
			[`/connect/demo?state=${SECRET}`, { headers: ['Transfer-Encoding: nonsense'] }],
			[`/connect/demo?state=${SECRET}`, { method: 'POST', headers: ['Content-Length: 5x'] }],
			[`/connect/demo?state=${SECRET} HTTP/9.9`, {}],
			[`/connect/demo?state=${SECRET}\x01`, {}],
			[`${SECRET}`, { method: SECRET }],
		]) {
			await sendRaw(baseUrl, target, options);
		}
	}
	await Promise.all([...servers.values()].map(({ close }) => close?.())); // Their logs are written then.
	const logs = await fixture.stack.logs();
	for (const [name, text] of logs) {
		assert.doesNotMatch(text, new RegExp(`${SECRET}|[?]\\w+=|state=|code=`), name);
	}
	const access = [...logs].filter(([name]) => name.endsWith('access.log'));
	assert.equal(access.length, servers.size);
	for (const [name, text] of access) {
		assert.match(text, /\/oauth\/demo\/return/, name);
	}
});
