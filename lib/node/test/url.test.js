import assert from 'node:assert/strict';
import test from 'node:test';

import { checkBaseUrl, checkTargetUrl, addParameters } from '../src/core/url.js';

test('a target URL must be https, or http on loopback', () => {
	for (const url of ['https://provider.example/a?b=c', 'https://provider.example:8443/', 'http://127.0.0.1:9000/x',
		'http://localhost/x', 'http://[::1]:1/x', new URL('https://provider.example/')]) {
		assert.equal(checkTargetUrl(url, 'oauth').href, new URL(url).href);
	}
	for (const url of ['http://provider.example/', 'http://127.0.0.1.evil.example/', 'http://localhost.evil.example/',
		'http://10.0.0.1/', 'ftp://provider.example/', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd',
		'//provider.example/', '/authorize', 'provider.example', '', 'https://', 'https:///', 42, null, undefined, {},
		'http:\\\\provider.example', 'about:blank']) {
		assert.throws(() => checkTargetUrl(url, 'oauth'), { name: 'TypeError', message: /^targetUrl / }, String(url));
	}
});

test('a target URL must not have a user, a fragment or, for oauth, a state', () => {
	for (const url of ['https://u@provider.example/', 'https://u:p@provider.example/', 'https://provider.example/#x',
		'https://provider.example/#', 'https://provider.example/?a=1&state=2', 'https://provider.example/?%73tate=',
		'https://provider.example/?state', 'https://provider.example/?a=1&state&b=2', 'https://provider.example/?a=?&st%61te=1']) {
		assert.throws(() => checkTargetUrl(url, 'oauth'), { name: 'TypeError', message: /^targetUrl must not / }, url);
	}
	for (const query of ['estate=1', 'stated=1', 'a=state', 'a=%73tate', 'a?state=1', 'State=1', '%73tate%20=1']) {
		assert.ok(checkTargetUrl(`https://provider.example/?${query}`, 'oauth'), query);
	}
	assert.ok(checkTargetUrl('https://checkout.example/?state=open', 'payment'));
});

test('a stored URL is ASCII and contains no line break', () => {
	for (const url of ['https://provider.example/a\r\nSet-Cookie: b', 'https://provider.example/a b',
		'https://provider.example/ö\u2028', 'https://provider.example\\@evil.example/', 'https://例え.example/']) {
		assert.match(checkTargetUrl(url, 'payment').href, /^[\x21-\x7e]+$/);
	}
	assert.equal(checkTargetUrl('https://provider.example\\@evil.example/', 'payment').host, 'provider.example');
});

test('a target URL has at most 8192 bytes, including added parameters', () => {
	const fits = `https://provider.example/?a=${'x'.repeat(8_192 - 28)}`;
	assert.equal(fits.length, 8_192);
	assert.ok(checkTargetUrl(fits, 'oauth'));
	assert.throws(() => checkTargetUrl(`${fits}x`, 'oauth'), { message: 'targetUrl must have at most 8192 bytes' });
	assert.throws(() => checkTargetUrl(`https://provider.example/${'ö'.repeat(1_400)}`, 'oauth'), /at most 8192 bytes/);
	assert.throws(() => addParameters(new URL(fits), { b: '1' }), /at most 8192 bytes/);
});

test('adding parameters changes nothing else', () => {
	for (const [url, expected] of [
		['https://p.example/a', 'https://p.example/a?b=%2F'],
		['https://p.example/a?', 'https://p.example/a?b=%2F'],
		['https://p.example/a?x=%20+~%7e&y', 'https://p.example/a?x=%20+~%7e&y&b=%2F'],
	]) {
		assert.equal(addParameters(new URL(url), { b: '/' }).href, expected);
	}
});

test('a base URL consists of scheme, host and port', () => {
	assert.equal(checkBaseUrl('https://callback.example').origin, 'https://callback.example');
	assert.equal(checkBaseUrl('http://127.0.0.1:8080/').origin, 'http://127.0.0.1:8080');
	for (const url of ['http://callback.example', 'https://callback.example/a', 'https://callback.example?a',
		'https://callback.example/#', 'https://u@callback.example', 'callback.example', undefined]) {
		assert.throws(() => checkBaseUrl(url), { name: 'TypeError', message: /^baseUrl / }, String(url));
	}
});
