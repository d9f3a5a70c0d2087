// The scripted browser behaves as real browsers do. The other tests depend on it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';

import { Browser } from './browser.mjs';
import { CookieJar, siteOf } from './cookies.mjs';

const HOME = new URL('http://127.0.0.1:8080/a/b');

/** The names of the cookies sent to `to` after HOME (or `from`) has set `headers`. */
function sent(headers, to, { from = HOME, ...navigation } = {}) {
	const jar = new CookieJar();
	for (const header of headers) {
		jar.store(header, new URL(from));
	}
	return jar.matching(new URL(to, from), navigation).map(({ name }) => name);
}

describe('cookies', () => {
	test('belong to a host, whatever its port', () => {
		assert.deepEqual(sent(['a=1'], 'http://127.0.0.1:9/a/'), ['a']);
		assert.deepEqual(sent(['a=1'], 'http://localhost:8080/a/'), []);
		assert.deepEqual(sent(['a=1; Domain=example.org'], 'https://example.org/',
			{ from: 'https://app.example.org/' }), ['a']);
		assert.deepEqual(sent(['a=1; Domain=example.com'], 'https://example.com/',
			{ from: 'https://app.example.org/' }), []);
	});

	test('keep to their path', () => {
		assert.deepEqual(sent(['a=1', 'b=2; Path=/', 'c=3; Path=/x'], '/a/b'), ['a', 'b']);
		assert.deepEqual(sent(['x=1; Path=/foo'], '/foobar'), []);
		assert.deepEqual(sent(['x=1; Path=/foo'], '/foo/bar'), ['x']);
	});

	test('marked Secure need https or loopback', () => {
		assert.deepEqual(sent(['a=1; Secure'], '/a/'), ['a']);
		assert.deepEqual(sent(['a=1; Secure'], '/', { from: 'http://example.org/' }), []);
		assert.deepEqual(sent(['a=1; Secure'], 'http://example.org/', { from: 'https://example.org/' }), []);
	});

	test('named __Host- must keep its rules', () => {
		assert.deepEqual(sent(['__Host-a=1; Secure; Path=/'], '/'), ['__Host-a']);
		for (const attributes of ['Secure', 'Path=/', 'Secure; Path=/a', 'Secure; Path=/; Domain=127.0.0.1']) {
			assert.deepEqual(sent([`__Host-a=1; ${attributes}`], '/a/'), [], attributes);
		}
	});

	test('end with Max-Age or Expires, and are replaced by name', () => {
		assert.deepEqual(sent(['a=1', 'a=2; Max-Age=0'], '/a/'), []);
		assert.deepEqual(sent(['a=1', 'a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], '/a/'), []);
		const jar = new CookieJar();
		jar.store('a=1; Max-Age=60', HOME);
		jar.store('a=2; Max-Age=60', HOME);
		assert.equal(jar.header(HOME), 'a=2');
	});

	test('keep to SameSite', () => {
		const headers = ['none=1; SameSite=None; Secure', 'lax=1; SameSite=Lax', 'strict=1; SameSite=Strict', 'bare=1'];
		const all = ['none', 'lax', 'strict', 'bare'];
		const elsewhere = new URL('http://localhost:9000/');
		assert.deepEqual(sent(headers, '/a/'), all);
		assert.deepEqual(sent(headers, '/a/', { method: 'POST', initiator: HOME }), all);
		assert.deepEqual(sent(headers, '/a/', { initiator: elsewhere }), ['none', 'lax', 'bare']);
		assert.deepEqual(sent(headers, '/a/', { method: 'POST', initiator: elsewhere }), ['none']);
	});

	test('sites are schemes and registrable hosts', () => {
		assert.equal(siteOf(new URL('http://a.example.org:1/')), siteOf(new URL('http://b.example.org:2/')));
		assert.notEqual(siteOf(new URL('http://example.org/')), siteOf(new URL('https://example.org/')));
		assert.notEqual(siteOf(new URL('http://127.0.0.1/')), siteOf(new URL('http://localhost/')));
	});
});

describe('browser', () => {
	let server;
	let home;
	let elsewhere;
	let browser;

	before(async () => {
		server = http.createServer(answer).listen(0, '127.0.0.1');
		await once(server, 'listening');
		home = `http://127.0.0.1:${server.address().port}`;
		elsewhere = `http://localhost:${server.address().port}`;
		browser = new Browser();
	});

	after(() => {
		browser.close();
		server.close();
	});

	async function answer(request, response) {
		const { pathname, searchParams } = new URL(request.url, home);
		let body = '';
		for await (const chunk of request) {
			body += chunk;
		}
		if (pathname === '/to') {
			response.writeHead(Number(searchParams.get('status')), { Location: searchParams.get('url') }).end();
		} else if (pathname === '/form') {
			response.writeHead(200, {
				'Content-Type': 'text/html',
				'Set-Cookie': ['lax=1; SameSite=Lax; Path=/', 'strict=1; SameSite=Strict; Path=/'],
				...searchParams.has('policy') && { 'Referrer-Policy': searchParams.get('policy') },
			}).end(`<title>A &amp; B</title><form method="post" action="${searchParams.get('action')}">
				<input type="hidden" name="state" value="&lt;a&#38;b&quot;"><input name="who">
				<input type="checkbox" name="no"><button name="answer" value="yes">Go on</button>
				<button name="answer" value="no">Stop</button><input type="submit"></form>
				<p>one<br>two<b>s</b></p>three<script>four</script>`);
		} else {
			response.end(JSON.stringify({ method: request.method, body, headers: request.headers }));
		}
	}

	const echo = (page) => JSON.parse(page.body);
	const redirect = (status, url) => `/to?${new URLSearchParams({ status, url })}`;

	test('follows redirects and keeps every hop', async () => {
		const page = await browser.open(home + redirect(303, `${elsewhere}${redirect(307, '/end?x=1')}`));
		assert.deepEqual(page.hops.map(({ status }) => status), [303, 307, 200]);
		assert.equal(page.url, `${elsewhere}/end?x=1`);
		assert.equal(page.path, '/end');
		assert.deepEqual(browser.history.slice(-3), page.hops);
		await assert.rejects(browser.open(home + redirect(302, 'javascript:1')), /not a web address/);
	});

	test('reads pages', async () => {
		const page = await browser.open(`${home}/form?action=/end`);
		assert.equal(page.title, 'A & B');
		assert.match(page.text, /one twos three$/);
		assert.deepEqual(page.forms[0].fields, [['state', '<a&b"'], ['who', '']]);
		assert.deepEqual(page.forms[0].buttons.map(({ text }) => text), ['Go on', 'Stop', 'Submit']);
	});

	test('submits forms with the button pressed', async () => {
		const page = await browser.open(`${home}/form?action=/end`);
		const next = await browser.submit(page, { button: 'Go on', fields: { who: 'Zoë' } });
		const { method, body, headers } = echo(next);
		assert.equal(method, 'POST');
		assert.equal(body, 'state=%3Ca%26b%22&who=Zo%C3%AB&answer=yes');
		assert.equal(headers.cookie, 'lax=1; strict=1');
		assert.equal(headers.origin, home);
		assert.equal(headers['sec-fetch-site'], 'same-origin');
		assert.throws(() => browser.submit(page, { button: 'Maybe' }), /no button Maybe/);
		assert.throws(() => browser.submit(page, { fields: { why: '' } }), /no field why/);
	});

	test('keeps SameSite=Lax cookies from a cross-site POST', async () => {
		await browser.open(`${home}/form?action=/end`);
		const page = await browser.open(`${elsewhere}/form?action=${home}/end`);
		const { headers } = echo(await browser.submit(page));
		assert.equal(headers.cookie, undefined);
		assert.equal(headers.origin, elsewhere);
		assert.equal(headers['sec-fetch-site'], 'cross-site');
		assert.equal(echo(await browser.follow(page, `${home}/end`)).headers.cookie, 'lax=1');
	});

	test('hides the origin of a page with no-referrer', async () => {
		const page = await browser.open(`${home}/form?action=/end&policy=no-referrer`);
		const { headers } = echo(await browser.submit(page));
		assert.equal(headers.origin, 'null');
		assert.equal(headers.referer, undefined);
	});

	test('repeats a POST only where the status says so', async () => {
		for (const [status, method] of [[301, 'GET'], [302, 'GET'], [303, 'GET'], [307, 'POST'], [308, 'POST']]) {
			const action = encodeURIComponent(redirect(status, '/end'));
			const page = await browser.open(`${home}/form?action=${action}`);
			const { method: seen, body } = echo(await browser.submit(page));
			assert.equal(seen, method, String(status));
			assert.equal(body !== '', method === 'POST', String(status));
		}
	});
});
