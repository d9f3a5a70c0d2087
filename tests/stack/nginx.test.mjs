// nginx with the shipped configuration, in front of programs that misbehave: what it passes
// on, what it answers itself, and what it must not log.

import assert from 'node:assert/strict';
import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ROOT, fakePrograms, fetchRaw, scratch, script, talk, until, variables } from './harness.mjs';

const SECRET = 'code-that-nobody-may-log';
const PAGE_HEADERS = {
	'cache-control': 'no-store',
	'content-type': 'text/html; charset=utf-8',
	'referrer-policy': 'no-referrer',
	'x-content-type-options': 'nosniff',
	'cross-origin-opener-policy': 'same-origin',
};

let stack;
let base;
let port;

before(async () => {
	const RUN_DIR = await scratch('nginx');
	stack = { RUN_DIR, PROGRAM_DIR: await fakePrograms() };
	const up = await script('up', [], stack);
	assert.equal(up.status, 0, up.stderr);
	base = (await variables(RUN_DIR)).URLMODE_BASE_URL;
	port = Number(new URL(base).port);

	// The snippets as they are, but for the time that a test has.
	await rm(path.join(RUN_DIR, 'urlmode'));
	await cp(path.join(ROOT, 'nginx/urlmode'), path.join(RUN_DIR, 'urlmode'), { recursive: true });
	const fastcgi = path.join(RUN_DIR, 'urlmode/fastcgi.conf');
	const text = await readFile(fastcgi, 'utf8');
	assert.match(text, /^fastcgi_read_timeout 30s;$/m);
	await writeFile(fastcgi, text.replace('read_timeout 30s', 'read_timeout 3s'));
	const restart = await script('service', ['restart', 'nginx'], stack);
	assert.equal(restart.status, 0, restart.stderr);
});

after(() => script('down', [], stack));

async function logs() {
	const folder = path.join(stack.RUN_DIR, 'log');
	const names = (await readdir(folder)).filter((name) => /nginx|access/.test(name));
	return (await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')))).join('\n');
}

/** The access log's line of an answer, which nginx writes after the answer. */
async function logged(requestId) {
	for (let tries = 0; tries < 50; tries++) {
		const text = await readFile(path.join(stack.RUN_DIR, 'log/access.log'), 'utf8');
		const line = text.split('\n').find((candidate) => candidate.includes(requestId));
		if (line) {
			return JSON.parse(line);
		}
		await sleep(20);
	}
	return assert.fail(`no line of ${requestId}`);
}

async function echo(url, options) {
	const answer = await fetchRaw(base + url, options);
	assert.equal(answer.status, 200, answer.text);
	return JSON.parse(answer.text);
}

function assertErrorPage(answer, status, type = PAGE_HEADERS['content-type']) {
	assert.equal(answer.status, status);
	for (const [name, value] of Object.entries({ ...PAGE_HEADERS, 'content-type': type })) {
		assert.equal(answer.headers[name], value, name);
	}
	assert.match(answer.headers['content-security-policy'], /^default-src 'none';/);
	assert.match(answer.headers['content-security-policy'], /frame-ancestors 'none'/);
	assert.match(answer.headers['x-request-id'], /^[0-9a-f]{32}$/);
	assert.equal(answer.headers.server, 'nginx');
	assert.ok(answer.text.includes(answer.headers['x-request-id']));
	assert.doesNotMatch(answer.text, new RegExp(SECRET));
}

/** The same for a webhook: one line of text, which a provider may keep. */
function assertErrorText(answer, status, text) {
	assertErrorPage(answer, status, 'text/plain; charset=utf-8');
	assert.equal(answer.text, `${text} Request: ${answer.headers['x-request-id']}\n`);
}

test('a program gets the path as it came, and the query', async () => {
	for (const raw of ['/connect/demo', '/connect/%64emo', '/connect//demo', '/connect/x/../demo', '/connect/a%2Fb']) {
		const { params } = await echo(`${raw}?state=a%20b&x=1`);
		assert.equal(params.SCRIPT_NAME, raw);
		assert.equal(params.QUERY_STRING, 'state=a%20b&x=1');
		assert.equal(params.PATH_INFO, undefined);
	}
	const { params } = await echo('/oauth/demo/return');
	assert.equal(params.SCRIPT_NAME, '/oauth/demo/return');
	assert.equal(params.REQUEST_METHOD, 'GET');
	assert.equal(params.GATEWAY_INTERFACE, 'CGI/1.1');
	assert.equal(params.REMOTE_ADDR, '127.0.0.1');
	assert.match(params.URLMODE_REQUEST_ID, /^[0-9a-f]{32}$/);
});

test('a path that only resolves to a route reaches it under its own name', async () => {
	for (const raw of ['/connect/../healthz', '/%68ealthz', '/oauth/..%2fdone']) {
		const { params } = await echo(raw);
		assert.equal(params.SCRIPT_NAME, raw);
	}
});

test('a body is passed whole, with its length', async () => {
	const body = `code=${SECRET}&pad=${'x'.repeat(60_000)}`;
	const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
	const whole = await echo('/oauth/demo/return', { method: 'POST', body, headers });
	assert.equal(whole.body, body);
	assert.equal(whole.params.CONTENT_LENGTH, String(body.length));
	assert.equal(whole.params.CONTENT_TYPE, headers['Content-Type']);

	const chunked = { ...headers, 'Transfer-Encoding': 'chunked' };
	assert.equal((await echo('/oauth/demo/return', { method: 'POST', body, headers: chunked })).body, body);
	assert.deepEqual(await readdir(path.join(stack.RUN_DIR, 'tmp/body')), [], 'no body on the disk');
});

test('headers that mislead programs do not reach them', async () => {
	for (const route of ['/connect/demo', '/webhook/demo']) {
		const { params } = await echo(route, {
			headers: {
				Proxy: 'http://evil.example',
				Under_Score: '1',
				'Remote-User': 'mallory',
				Authorization: `Basic ${Buffer.from('mallory:x').toString('base64')}`,
			},
		});
		assert.equal(params.HTTP_PROXY, undefined);
		assert.equal(params.HTTP_UNDER_SCORE, undefined);
		assert.equal(params.REMOTE_USER, '', 'what the client claims is nobody');
		assert.equal(params.HTTPS, undefined);
	}
});

test('of the headers a program gets what it reads; a webhook gets them all', async () => {
	const headers = {
		Cookie: ['a=1', 'b=2'], 'Sec-Purpose': 'prefetch', Purpose: 'p', 'X-Purpose': 'xp', 'X-Moz': 'm',
		'Accept-Language': 'de-CH, en;q=0.5',
		'User-Agent': 'u', 'X-Signature': 's',
	};
	const http = ({ params }) => Object.fromEntries(Object.entries(params).filter(([name]) => name.startsWith('HTTP_')));
	const read = {
		HTTP_COOKIE: 'a=1; b=2', HTTP_SEC_PURPOSE: 'prefetch', HTTP_PURPOSE: 'p', HTTP_X_PURPOSE: 'xp', HTTP_X_MOZ: 'm',
		HTTP_ACCEPT_LANGUAGE: 'de-CH, en;q=0.5',
	};

	for (const route of ['/connect/demo', '/oauth/demo/return', '/payment/demo/return', '/status']) {
		assert.deepEqual(http(await echo(route, { headers })), read, route);
		assert.deepEqual(http(await echo(route)), {}, route);
	}
	const all = http(await echo('/webhook/demo', { headers }));
	assert.equal(all.HTTP_X_SIGNATURE, 's');
	assert.equal(all.HTTP_USER_AGENT, 'u');
	assert.equal(all.HTTP_COOKIE, read.HTTP_COOKIE);
});

test('the callback host has no page of the console', async () => {
	for (const url of ['/console', '/console/', '/console/search?q=ada', '/console/act', '/console/signin', '/%63onsole/', '/form/../console/']) {
		for (const method of ['GET', 'POST']) assertErrorPage(await fetchRaw(base + url, { method }), 404);
	}
});

test('what no program serves is 404', async () => {
	for (const raw of ['/', '/connect', '/oauth', '/done/', '/statusx', '/index.html', '/.git/config']) {
		assertErrorPage(await fetchRaw(base + raw), 404);
	}
});

test('its own pages are in the first language of the browser that there is', async () => {
	const cases = [
		[undefined, 'en'], ['', 'en'], ['de', 'de'], ['DE-ch', 'de'], ['xx, nl;q=0.9,  fr-CA;q=0.8, de', 'fr'], ['deu', 'en'], ['*', 'en'],
		['zh-TW', 'zh-Hans'], ['ar-EG;q=1', 'ar'], [`${'xx,   '.repeat(1_500)}ko`, 'ko'],
	];
	for (const [header, lang] of cases) {
		const headers = header === undefined ? {} : { 'Accept-Language': header };
		const answer = await fetchRaw(`${base}/nowhere`, { headers });
		assertErrorPage(answer, 404);
		assert.ok(answer.text.includes(`<html lang="${lang}" dir="${lang === 'ar' ? 'rtl' : 'ltr'}">`), String(header).slice(0, 40));
	}
});

test('healthz answers loopback only', async () => {
	for (const page of ['/healthz', '/healthz/live']) {
		assert.equal((await fetchRaw(base + page)).status, 200);
		assertErrorPage(await fetchRaw(base + page, { localAddress: '127.0.0.2' }), 403);
	}
});

test('the error pages have no address of their own', async () => {
	for (const page of ['/urlmode-error/', '/urlmode-error/page', '/urlmode-error/text']) {
		assertErrorPage(await fetchRaw(base + page), 404);
	}
});

test('TRACE is 405 with Allow', async () => {
	const answer = await fetchRaw(`${base}/connect/demo`, { method: 'TRACE' });
	assertErrorPage(answer, 405);
	assert.equal(answer.headers.allow, 'GET, HEAD, POST');
});

test('a query of 16 KB passes, a longer line is 414', async () => {
	const { params } = await echo(`/oauth/demo/return?code=${'x'.repeat(16_384)}`);
	assert.equal(params.QUERY_STRING.length, 16_384 + 'code='.length);
	assertErrorPage(await fetchRaw(`${base}/oauth/demo/return?code=${SECRET}${'x'.repeat(30_000)}`), 414);
});

test('too much header is 400, and less than a program takes', async () => {
	const withCookies = (length) => fetchRaw(`${base}/connect/demo?code=${SECRET}`, { headers: { Cookie: 'x'.repeat(length) } });
	assert.equal((await withCookies(20_000)).status, 200);
	const answer = await withCookies(32_768);
	assertErrorPage(answer, 400);
	assert.match(answer.text, /<h1>Too many cookies</);

	const config = await readFile(path.join(ROOT, 'nginx/urlmode/server.conf'), 'utf8');
	const header = await readFile(path.join(ROOT, 'lib/server/fcgi_check.h'), 'utf8');
	const [, first] = config.match(/^client_header_buffer_size (\d+)k;$/m);
	const [, count, size] = config.match(/^large_client_header_buffers (\d+) (\d+)k;$/m);
	const [, max] = header.match(/^#define UM_FCGI_PARAMS_MAX (\d+)/m);
	assert.ok((Number(first) + count * size) * 1024 + 4096 < Number(max), 'names and the rest take some as well');
});

test('a body over the limit is 413', async () => {
	const answer = await fetchRaw(`${base}/oauth/demo/return?code=${SECRET}`, {
		method: 'POST', body: 'x'.repeat(100_000),
	});
	assertErrorPage(answer, 413);
});

test('a webhook of 4 MB is passed whole, and leaves nothing on the disk; over it, 413', async () => {
	const send = (size) => fetchRaw(`${base}/webhook/demo`, { method: 'POST', body: 'x'.repeat(size) });
	for (const size of [1_048_576, 4_194_304]) {
		assert.equal(JSON.parse((await send(size)).text).body.length, size);
		assert.deepEqual(await readdir(path.join(stack.RUN_DIR, 'tmp/body')), []);
	}
	assertErrorText(await send(4_194_305), 413, 'body_too_large.');
});

/** A program that has crashed is started again, which may take longer than nginx waits here. */
const startedAgain = () => until(() => echo('/connect/demo'));

for (const [misdeed, status] of [['crash', 502], ['bad-header', 502], ['hang', 504]]) {
	test(`a webhook whose program does ${misdeed}: ${status}, and a short text that does not call it too large`, async () => {
		const body = SECRET.padEnd(500_000, 'x');
		const answer = await fetchRaw(`${base}/webhook/demo?do=${misdeed}`, { method: 'POST', body });
		assertErrorText(answer, status, 'unavailable.');
		assert.equal(answer.headers['retry-after'], '3');
		assert.equal(answer.headers.refresh, undefined);
		if (misdeed === 'crash') await startedAgain();
	});
}

test('what is no HTTP is 400', async () => {
	const answer = await talk(port, `GET /connect/demo?code=${SECRET} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`);
	assert.match(answer, /^HTTP\/1\.1 400 /);
	assert.match(answer, /Referrer-Policy: no-referrer/);
	assert.match(await talk(port, `GET /connect/demo?code=${SECRET} HTTP/1.x\r\n\r\n`), /400/);
});

for (const [misdeed, status] of [['crash', 502], ['bad-header', 502], ['hang', 504]]) {
	test(`a program that does ${misdeed}: ${status}, and the page tries again by itself`, async () => {
		const answer = await fetchRaw(`${base}/connect/demo?do=${misdeed}&code=${SECRET}`, {
			headers: { Referer: `http://x/${SECRET}`, Cookie: `a=${SECRET}` },
		});
		assertErrorPage(answer, status);
		assert.equal(answer.headers['retry-after'], '3');
		assert.equal(answer.headers.refresh, '3');
		const line = await logged(answer.headers['x-request-id']);
		assert.equal(line.status, String(status));
		assert.equal(line.method, 'GET');
		assert.equal(line.path, '/connect/demo');
		if (misdeed === 'crash') await startedAgain();
	});
}

test('after a failed POST the browser is not sent back by itself: the form would be lost', async () => {
	const answer = await fetchRaw(`${base}/oauth/demo/return?do=bad-header`, { method: 'POST', body: `code=${SECRET}` });
	assertErrorPage(answer, 502);
	assert.equal(answer.headers['retry-after'], '3');
	assert.equal(answer.headers.refresh, undefined);
	assert.equal((await logged(answer.headers['x-request-id'])).method, 'POST');
});

test('a program that dies within its answer, and one that writes to stderr', async () => {
	const half = await fetchRaw(`${base}/connect/demo?do=die&code=${SECRET}`);
	assert.equal(half.status, 200);
	const answer = await fetchRaw(`${base}/connect/demo?do=stderr&code=${SECRET}`);
	assert.equal(answer.status, 200);
});

test('a request that meets its program as it closes the connection is sent again, a POST as well', async () => {
	for (const options of [{}, { method: 'POST', body: `code=${SECRET}` }]) {
		// As many as both workers have connections to keep.
		for (let n = 0; n < 8; n++) {
			assert.equal((await fetchRaw(`${base}/oauth/demo/return`, options)).status, 200);
			const answer = await fetchRaw(`${base}/oauth/demo/return?do=leave`, options);
			assert.equal(answer.status, 200);
			assert.equal(JSON.parse(answer.text).body, options.body ?? '');
		}
	}
});

test('a program that is not there: 502, and back when it is', async () => {
	await script('service', ['stop', 'oauth-return'], stack);
	assertErrorPage(await fetchRaw(`${base}/oauth/demo/return?code=${SECRET}`), 502);
	await script('service', ['start', 'oauth-return'], stack);
	await echo(`/oauth/demo/return?code=${SECRET}`);
});

test('a flood from one address is 429, from 127.0.0.1 it is not', async () => {
	const flood = (localAddress) => Promise.all(Array.from({ length: 120 },
		() => fetchRaw(`${base}/oauth/demo/return?code=${SECRET}`, { localAddress })));
	const limited = (await flood('127.0.0.2')).filter(({ status }) => status !== 200);
	assert.ok(limited.length >= 40, `${limited.length} of 120`);
	for (const answer of limited) {
		assertErrorPage(answer, 429);
		assert.equal(answer.headers['retry-after'], '3');
	}
	assert.ok((await flood('127.0.0.1')).every(({ status }) => status === 200));
	assert.equal((await fetchRaw(`${base}/done`, { localAddress: '127.0.0.3' })).status, 200);
});

test('a provider sends many webhooks at once from one address, but only so many bodies', async () => {
	const localAddress = '127.0.0.4';
	const flood = await Promise.all(Array.from({ length: 90 },
		() => fetchRaw(`${base}/webhook/demo`, { method: 'POST', body: '{}', localAddress })));
	assert.ok(flood.every(({ status }) => status === 200));

	// Each announces a body and sends nothing of it. There are more than the
	// limit of 100, and one that nginx has closed meanwhile is replaced, so that
	// it makes no difference how slowly they arrive.
	const slow = new Set();
	const open = () => {
		const socket = connect({ port, host: '127.0.0.1', localAddress });
		slow.add(socket);
		socket.on('error', () => {}).on('close', () => slow.delete(socket)).resume();
		socket.write('POST /webhook/demo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
	};
	try {
		await until(async () => {
			while (slow.size < 120) {
				open();
			}
			const answer = await fetchRaw(`${base}/webhook/demo`, { method: 'POST', body: '{}', localAddress });
			assertErrorText(answer, 429, 'too_many_requests.');
		});
		assert.equal((await fetchRaw(`${base}/webhook/demo`, { method: 'POST', body: '{}', localAddress: '127.0.0.5' })).status, 200);
	} finally {
		slow.forEach((socket) => socket.destroy());
	}
});

test('a code that came to stand in the path is not logged', async () => {
	for (const raw of [`/oauth/demo/return%3Fcode=${SECRET}`, `/connect/${SECRET.repeat(4)}`, `/connect/demo&code=${SECRET}`]) {
		await fetchRaw(base + raw);
	}
	await talk(port, `GET http://127.0.0.1/connect/demo?code=${SECRET} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
	await talk(port, `GET http://127.0.0.1?code=${SECRET} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
	await talk(port, `GET /connect/demo#code=${SECRET} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
});

test('after all of this no log of nginx holds a query', async () => {
	// What is still being written is written when nginx has ended.
	await script('service', ['restart', 'nginx'], stack);
	const text = await logs();
	assert.ok(text.includes('"status":"502"') && text.includes('start worker process'), 'the logs are there');
	assert.doesNotMatch(text, new RegExp(SECRET));
	assert.doesNotMatch(text, /\?|do=|%3F/i);
});
