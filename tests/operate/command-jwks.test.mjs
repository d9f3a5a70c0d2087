// urlmode jwks refresh: the provider's keys as a file that the programs notice;
// and what urlmode setup reads of the provider.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';

import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { COMMAND, urlmode } from '../support/command.mjs';
import { until } from '../support/wait.mjs';

const MINUTE = 60_000;

let folder;
let provider;

const at = (name) => path.join(folder, name);
const now = () => Date.now();
const keysInFile = () => JSON.parse(readFileSync(at('jwks.json'), 'utf8')).keys;
const due = () => statSync(at('jwks.json.due')).mtimeMs;
const setDue = (ms) => utimesSync(at('jwks.json.due'), ms / 1_000, ms / 1_000);

before(async () => {
	provider = await startOpenIdProvider('keycloak');
});

after(() => provider.close());

beforeEach((context) => {
	folder = mkdtempSync(path.join(tmpdir(), 'urlmode-jwks-'));
	context.after(() => rmSync(folder, { recursive: true }));
	Object.assign(provider, { headers: {}, discovery: {}, served: undefined });
	configure({ user_check: 'openid', openid: { ...provider.openid, jwks_file: 'jwks.json', refresh_file: 'refresh' } });
});

function configure(more) {
	writeFileSync(at('config.json'), JSON.stringify({
		base_url: 'https://callback.example', keys_file: 'keys', database_url: 'dbname=urlmode', providers: { demo: { kind: 'oauth' } }, ...more,
	}), { mode: 0o640 });
}

const refresh = (...args) => urlmode(['jwks', 'refresh', ...args], { URLMODE_CONFIG: at('config.json') });

async function refreshed(...args) {
	const { status, out, err } = await refresh(...args);
	assert.deepEqual([status, err], [0, '']);
	return out;
}

test('the keys are there for everybody to read, as the provider has them', async () => {
	const out = await refreshed();
	assert.match(out, new RegExp(`^1 keys of ${provider.issuer} are in ${at('jwks.json')}; the next ones are fetched in 300 seconds\n$`));
	assert.deepEqual(keysInFile().map(({ kid }) => kid), ['enc', provider.kid]);
	assert.equal(statSync(at('jwks.json')).mode & 0o777, 0o644);
	assert.deepEqual(readdirSync(folder).sort(), ['config.json', 'jwks.json', 'jwks.json.due', 'jwks.json.sign-out'], 'and nothing is left over');
	assert.equal(readFileSync(at('jwks.json.sign-out'), 'utf8'), `${provider.origin}/logout\n`);
	assert.equal(statSync(at('jwks.json.sign-out')).mode & 0o777, 0o644);
	provider.rotate();
	provider.discovery = { end_session_endpoint: undefined };
	await refreshed();
	assert.deepEqual(keysInFile().map(({ kid }) => kid), ['enc', provider.kid]);
	assert.ok(!readdirSync(folder).includes('jwks.json.sign-out'), 'users cannot sign out there any more');
});

for (const [header, seconds] of [['no-store', 300], ['public, max-age=10', 300], ['max-age=7200, must-revalidate', 7_200], ['max-age=99999999', 86_400]]) {
	test(`Cache-Control: ${header} is ${seconds} seconds`, async () => {
		provider.headers = { 'Cache-Control': header };
		await refreshed();
		assert.ok(Math.abs(due() - now() - seconds * 1_000) < MINUTE);
	});
}

test('--if-due: when the time has passed or a program has asked, once a minute at most', async () => {
	const fetched = async () => (await refreshed('--if-due')) !== '';
	assert.ok(await fetched(), 'there is no file yet');
	setDue(now() - MINUTE);
	assert.ok(!await fetched(), 'not twice in a minute');
	// A minute ago, as far as the command can see: its clock is a minute ahead.
	const ahead = async () => {
		const date = at('date');
		writeFileSync(date, '#!/bin/sh\n[ "$*" = +%s ] && exec /bin/date -d "now + 61 seconds" +%s\nexec /bin/date "$@"\n', { mode: 0o755 });
		const { status, out, err } = await urlmode(['jwks', 'refresh', '--if-due'], { URLMODE_CONFIG: at('config.json'), PATH: `${folder}:${process.env.PATH}` });
		assert.deepEqual([status, err], [0, '']);
		return out !== '';
	};
	assert.ok(await ahead(), 'the time has passed');
	setDue(now() + 100 * MINUTE);
	assert.ok(!await ahead(), 'it has not');
	writeFileSync(at('refresh'), '');
	assert.ok(await ahead(), 'a program has asked');
	utimesSync(at('refresh'), 1, 1);
	setDue(now() + 100 * MINUTE);
	assert.ok(!await ahead(), 'that was before');
});

test('--keep: it goes on when the provider did not answer, fetches keys that are missing, and ends with SIGTERM', async () => {
	provider.served = '<html>';
	const child = spawn(COMMAND, ['jwks', 'refresh', '--keep'], { env: { ...process.env, URLMODE_CONFIG: at('config.json') }, stdio: ['ignore', 'pipe', 'pipe'] });
	const ended = once(child, 'close');
	try {
		await once(child.stderr, 'data');
		assert.ok(!existsSync(at('jwks.json')));
		provider.served = undefined;
		await until('the keys are there', () => existsSync(at('jwks.json')));
		rmSync(at('jwks.json'));
		await until('they are there again', () => existsSync(at('jwks.json')));
	} finally {
		child.kill('SIGTERM');
	}
	assert.deepEqual(await ended, [0, null]);
	assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith('.')), []);
});

for (const [what, change, said] of [
	['a page', { served: '<html>' }, /is not a JSON object/],
	['an error as JSON', { served: { error: 'rate_limited' } }, /has no array `keys`/],
	['no key that can be used', { served: { keys: [] } }, /has no key that can verify a signature/],
	['a private key', { served: { keys: [{ kty: 'EC', d: 'AA' }] } }, /private or a symmetric key/],
	['too much', { served: { keys: [], more: 'x'.repeat(140_000) } }, /maximum (allowed )?file size|over 131072/i],
	['another issuer', { discovery: { issuer: 'https://evil.example' } }, /that of another issuer/],
	['keys without TLS', { discovery: { jwks_uri: 'http://evil.example/jwks' } }, /jwks_uri of the discovery document is not an address with https/],
	['keys in a file', { discovery: { jwks_uri: 'file:///etc/passwd' } }, /jwks_uri of the discovery document/],
	['no keys', { discovery: { jwks_uri: undefined } }, /has no jwks_uri/],
]) {
	test(`${what}: the old file stays`, async () => {
		await refreshed();
		const before = readFileSync(at('jwks.json'), 'utf8');
		Object.assign(provider, change);
		const { status, out, err } = await refresh();
		assert.deepEqual([status, out], [1, '']);
		assert.match(err, said);
		assert.equal(readFileSync(at('jwks.json'), 'utf8'), before);
		assert.deepEqual(readdirSync(folder).sort(), ['config.json', 'jwks.json', 'jwks.json.due', 'jwks.json.sign-out']);
	});
}

test('a provider that does not answer', async () => {
	configure({ user_check: 'openid', openid: { ...provider.openid, issuer: 'http://127.0.0.1:9', jwks_file: 'jwks.json' } });
	const { status, err } = await refresh();
	assert.equal(status, 1);
	assert.match(err, /^urlmode: http:\/\/127\.0\.0\.1:9\/\.well-known\/openid-configuration: curl: /);
	assert.ok(!existsSync(at('jwks.json')));
});

test('without user_check openid there is nothing to do, and the timer says nothing', async () => {
	configure({ user_check: 'confirm' });
	assert.equal(await refreshed('--if-due'), '');
	assert.equal(await refreshed(), 'user_check is not openid: there are no keys to fetch\n');
});
