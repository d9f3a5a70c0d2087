// No redirect goes anywhere but to the row's target URL, to /done, or to the
// same path of the same origin: hundreds of payloads, in every place that a
// request has.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import { checkTargetUrl } from '../../lib/node/src/core/url.js';
import { freePorts } from '../stack/harness.mjs';
import { stateOf } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { bytesOf, EVIL, once, onOneLine, PAYLOADS } from './payloads.mjs';
import { send } from './raw.mjs';

/** What such parameters are called elsewhere. */
const NAMES = [
	'redirect_uri', 'redirect_url', 'redirect', 'redir', 'rd', 'next', 'url', 'uri', 'return', 'returnTo', 'return_to', 'continue', 'target',
	'target_link_uri', 'dest', 'destination', 'goto', 'back', 'callback', 'RelayState', 'login_hint', 'error_uri', 'forward', 'out', 'service', 'x',
];
const AT_ONCE = 16;

let fixture;
let pending; // its link is good
let flow;    // its browser is at the provider
let cookie;

before(async () => {
	fixture = await openFixture({ name: 'redirects', own: true });
	pending = await fixture.create();
	const browser = fixture.browser();
	flow = await fixture.goOn(browser);
	cookie = browser.jar.header(new URL(fixture.url('/')));
});

after(() => fixture?.close());


/**
 * That nothing in an answer leads anywhere else.
 *
 * @param {{ status: number | undefined, headers: [string, string][], body: string }} answer
 * @param {string} payload for the message
 * @param {(location: string) => boolean} [isGood] where a redirect may go
 */
function assertLeadsNowhere(answer, payload, isGood = () => false) {
	const what = JSON.stringify(payload);
	const all = (name) => answer.headers.filter(([known]) => known === name).map(([, value]) => value);

	for (const location of all('location')) {
		assert.ok(isGood(location), `${what} led to ${location}`);
		// RFC 9700 section 4.12: not 307, which would post again what was posted.
		assert.equal(answer.status, 303);
	}
	for (const refresh of all('refresh')) {
		assert.match(refresh, /^\d+$/, what);
	}
	assert.ok(all('location').length <= 1, what);
	assert.equal(all('x-injected').length, 0, what);
	// With its dot: a sealed value may have the letters by chance.
	assert.ok(!all('set-cookie').some((value) => value.includes('evil.')), what);
	assert.ok(!answer.body.toLowerCase().includes(EVIL), `${what} is on the page`);
	assert.doesNotMatch(answer.body, /<script|http-equiv|X-Injected|javascript:/i, what);
}

/** Every payload, some at the same time. */
async function each(check, payloads = PAYLOADS) {
	const left = [...payloads];
	await Promise.all(Array.from({ length: AT_ONCE }, async () => {
		for (let payload = left.pop(); payload !== undefined; payload = left.pop()) {
			await check(payload);
		}
	}));
}

const rows = async () => [await fixture.row(pending.id), await fixture.row(flow.id)];

/** One placement: every payload is sent, and nothing is changed by any. */
function placement(name, request, isGood) {
	test(name, async () => {
		const before = await rows();
		let answered = 0;
		await each(async (payload) => {
			const answer = await request(payload);
			answered += answer.status !== undefined;
			assertLeadsNowhere(answer, payload, isGood);
		});
		assert.ok(answered > PAYLOADS.length / 3, 'most of them were answered');
		assert.deepEqual(await rows(), before);
	});
}

test('the list has hundreds of payloads', () => {
	assert.ok(PAYLOADS.length >= 400, `${PAYLOADS.length}`);
});

const fields = (payload, encode) => NAMES.map((name) => `${name}=${encode(payload)}`).join('&');
const get = (target, headers) => send(fixture.stack.baseUrl, target, { headers });
const post = (target, body, headers = []) => send(fixture.stack.baseUrl, target, {
	method: 'POST', body, headers: ['Content-Type: application/x-www-form-urlencoded', ...headers],
});
const inQuery = (payload) => onOneLine(payload).replaceAll(' ', '%20').replaceAll('&', '%26').replaceAll('#', '%23');

describe('in the query', () => {
	const connect = () => `/connect/demo?state=${stateOf(pending.url)}`;

	placement('of /connect, beside a good state', (payload) => get(`${connect()}&${fields(payload, once)}`));
	placement('of /connect, as it is', (payload) => get(`${connect()}&${fields(payload, inQuery)}`));
	placement('of /connect, encoded twice', (payload) => get(`${connect()}&${fields(payload, (text) => once(once(text)))}`));
	placement('of /connect, as the state', (payload) => get(`/connect/demo?state=${once(payload)}`));
	placement('of /done', (payload) => get(`/done?${fields(payload, once)}`));
	placement('of /status', (payload) => get(`/status?provider=${once(payload)}&state=${flow.state}`));
	for (const name of ['iss', 'error_description', 'error_uri', 'scope']) {
		placement(`of the return, as ${name} beside a wrong issuer`, (payload) => get(
			`/oauth/demo/return?code=c&state=${flow.state}${name === 'iss' ? '' : '&iss=x'}&${name}=${once(payload)}`, [`Cookie: ${cookie}`]));
	}
	placement('of the return, as the state', (payload) => get(`/oauth/demo/return?code=c&iss=x&state=${once(payload)}`, [`Cookie: ${cookie}`]));
});

describe('in the path', () => {
	const path = (payload) => onOneLine(payload).replaceAll(' ', '%20');

	placement('as the whole of it', (payload) => get(path(payload)));
	placement('behind a slash', (payload) => get(`/${path(payload)}`));
	placement('as the provider of /connect', (payload) => get(`/connect/${path(payload)}?state=${stateOf(pending.url)}`));
	placement('as the provider of the return', (payload) => get(`/oauth/${path(payload)}/return?code=c&state=${flow.state}`, [`Cookie: ${cookie}`]));
	placement('behind /connect/demo', (payload) => get(`/connect/demo${path(payload)}?state=${stateOf(pending.url)}`));
	placement('before /done', (payload) => get(`${path(payload)}/done`));
});

describe('in a header', () => {
	const target = () => `/connect/demo?state=${stateOf(pending.url)}`;

	placement('Host', (payload) => get(target(), [`Host: ${onOneLine(payload)}`]));
	placement('those that proxies set', (payload) => get(target(), [
		'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'X-Forwarded-Prefix', 'X-Forwarded-Uri', 'X-Forwarded-Server', 'X-Host', 'X-Original-URL',
		'X-Original-URI', 'X-Rewrite-URL', 'X-Auth-Request-Redirect', 'Forwarded', 'Base-Url', 'Proxy', 'X-Proxy-URL', 'Destination', 'Location', 'Refresh',
	].map((name) => `${name}: ${onOneLine(payload)}`)));
	placement('those that browsers set', (payload) => get(target(), [
		'Referer', 'Origin', 'User-Agent', 'Accept', 'Accept-Language', 'Sec-Fetch-Site', 'X-Requested-With', 'Content-Type', 'Authorization', 'Via', 'Upgrade',
	].map((name) => `${name}: ${onOneLine(payload)}`)));
	placement('the cookies', (payload) => get('/done', [`Cookie: __Host-urlmode=${onOneLine(payload)}; __Host-urlmode-done=${onOneLine(payload)}`]));
});

describe('in a form', () => {
	placement('the confirm page’s answer', (payload) => post('/connect/demo', `state=${stateOf(pending.url)}&answer=${once(payload)}&${fields(payload, once)}`));
	placement('the confirm page’s state', (payload) => post('/connect/demo', `state=${once(payload)}&answer=continue`, [`Cookie: ${cookie}`]));
	placement('form_post, which comes again by GET: to the same path', (payload) => post('/oauth/demo/return',
		`code=${once(payload)}&iss=${once(payload)}&state=${flow.state}&x=${once(payload)}`), (location) => (
		/^\/oauth\/demo\/return\?[\w.~%=&-]*$/.test(location) && new URL(location, fixture.stack.baseUrl).pathname === '/oauth/demo/return'));
});

describe('in what is accepted', () => {
	const some = PAYLOADS.filter((_, index) => index % 17 === 0);

	test('a code: the browser goes to /done', async () => {
		await each(async (payload) => {
			const browser = fixture.browser();
			const { returnUrl, parameters } = await fixture.goOn(browser);
			const query = new URLSearchParams(parameters({ code: `${payload}x`, error_uri: payload })).toString();
			const answer = await get(`${new URL(returnUrl).pathname}?${query}`, [`Cookie: ${browser.jar.header(new URL(returnUrl))}`]);
			// What is no text is refused.
			assert.ok(answer.status === 303 || answer.status === 400, `${answer.status}`);
			assertLeadsNowhere(answer, payload, (location) => location === '/done');
		}, some);
	});

	test('an error with a description and an address: the browser goes to /done, which shows neither', async () => {
		await each(async (payload) => {
			const browser = fixture.browser();
			const { returnUrl, parameters } = await fixture.goOn(browser);
			const query = new URLSearchParams(parameters({ error: 'server_error', error_description: payload, error_uri: payload })).toString();
			const headers = () => [`Cookie: ${browser.jar.header(new URL(returnUrl))}`];
			const answer = await get(`${new URL(returnUrl).pathname}?${query}`, headers());
			assert.ok(answer.status === 303 || answer.status === 400, `${answer.status}`);
			assertLeadsNowhere(answer, payload, (location) => location === '/done');
			assertLeadsNowhere(await get('/done', headers()), payload);
		}, some);
	});
});

describe('as the target URL', () => {
	test('what is taken is https (http on loopback), without userinfo or fragment, and as a browser reads it', () => {
		let taken = 0;
		for (const payload of PAYLOADS) {
			let url;
			try {
				url = checkTargetUrl(payload, 'oauth');
			} catch (error) {
				assert.ok(error instanceof TypeError, payload);
				assert.match(error.message, /^targetUrl /);
				assert.ok(!error.message.includes(EVIL), 'the error does not repeat it');
				continue;
			}
			taken += 1;
			assert.ok(url.protocol === 'https:' || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url.href), payload);
			assert.equal(url.username + url.password + url.hash, '', payload);
			assert.match(url.href, /^[\x21-\x22\x24-\x5b\x5d-\x7e]+$/, 'no space, backslash or #');
			assert.equal(new URL(url.href).href, url.href);
		}
		assert.ok(taken > 0 && taken < PAYLOADS.length / 2, `${taken}`);
	});

	test('none is taken that no URL parser takes for an absolute address', () => {
		for (const payload of PAYLOADS.filter((text) => !/^[\s\0-\x20]*[a-z][a-z0-9+.-]*:/i.test(text.replaceAll(/[\t\r\n]/g, '')))) {
			assert.throws(() => checkTargetUrl(payload, 'oauth'), TypeError, payload);
		}
	});

	test('what is taken is where /connect sends the browser, byte for byte', async () => {
		for (const payload of PAYLOADS) {
			let target;
			try {
				target = checkTargetUrl(payload, 'oauth');
			} catch {
				continue;
			}
			const { hop } = await fixture.goOn(fixture.browser(), { targetUrl: target });
			assert.ok(hop.location.startsWith(target.href), payload);
			assert.equal(new URL(hop.location).host, target.host);
		}
	});
});

describe('the redirect from http to https', () => {
	test('leads to the configured name alone', async () => {
		const [port] = await freePorts(1);
		const [, block] = /\n(server \{\s+listen 80;[\s\S]*?\n\})/.exec(await readFile(new URL('../../nginx/urlmode.conf', import.meta.url), 'utf8'));
		const conf = `${fixture.stack.runDir}/nginx.conf`;
		const text = (await readFile(conf, 'utf8')).replace(/\}\s*$/, `${block
			.replace('listen 80;', `listen 127.0.0.1:${port};`)
			.replace(/.*listen \[::\].*\n/, '').replaceAll('/var/log/nginx/', 'log/')}\n}\n`);
		await writeFile(conf, text);
		await fixture.stack.service('restart', 'nginx');

		await each(async (payload) => {
			for (const target of [onOneLine(payload).replaceAll(' ', '%20'), `/${onOneLine(payload).replaceAll(' ', '%20')}`]) {
				const answer = await send(`http://127.0.0.1:${port}`, target, { headers: [`Host: ${bytesOf(EVIL)}`] });
				for (const [name, value] of answer.headers) {
					assert.ok(name !== 'location' || new URL(value).origin === 'https://callback.example.com', `${JSON.stringify(payload)}: ${value}`);
					assert.notEqual(name, 'x-injected');
				}
			}
		});
	});
});
