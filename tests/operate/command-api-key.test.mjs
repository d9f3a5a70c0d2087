// urlmode api-key: who may call the api. Each change is seen by a program that runs.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { urlmode } from '../support/command.mjs';
import { Api, startApi } from '../support/api.mjs';
import { until } from '../support/wait.mjs';

let api;

before(async () => {
	api = await startApi('command-api-key');
});

after(() => api?.close());

const run = (...args) => urlmode(['api-key', ...args], { URLMODE_CONFIG: api.stack.env.URLMODE_CONFIG });

async function done(...args) {
	const said = await run(...args);
	assert.deepEqual([said.status, said.err], [0, '']);
	return said.out;
}

/** Whoever has this key, once the program knows whether it counts. */
async function caller(key, status) {
	const who = new Api(api.stack, key);
	await until(`${status} for this key`, async () => (await who.call('paid', {})).status === status);
	return who;
}

const lines = () => readFileSync(api.keysFile, 'utf8').split('\n').filter(Boolean);

test('a key is printed once, kept as its digest, reaches its tenant alone, and is refused when it is removed', async () => {
	const before = lines();
	const { mode, uid, gid } = statSync(api.keysFile);
	const [key, said] = (await done('add', 'billing', '--tenant', 'acme')).split('\n');
	assert.match(key, /^umk_[A-Za-z0-9_-]{43}$/);
	assert.match(said, /^This is the key billing, for the tenant acme\. It is shown this once/);
	const [other] = (await done('add', 'billing.2')).split('\n');
	const digest = (text) => createHash('sha256').update(text).digest('hex');
	assert.deepEqual(lines(), [...before, `billing acme ${digest(key)}`, `billing.2 - ${digest(other)}`]);
	const is = statSync(api.keysFile);
	assert.deepEqual([is.mode & 0o777, is.uid, is.gid], [mode & 0o750 & ~0o010, uid, gid]);
	assert.deepEqual(readdirSync(path.dirname(api.keysFile)).filter((name) => name.startsWith('api-keys.')), []);
	assert.equal(await done('list'), `${api.keysFile}:\n  stack without a tenant\n  billing for the tenant acme\n  billing.2 without a tenant\n`);

	const acme = await caller(key, 400);
	const create = { provider: 'acme', kind: 'oauth', subject: 'user-1', target_url: 'https://provider.example/authorize' };
	const { id } = await acme.ok('create', create, 201);
	const nobody = await caller(other, 400);
	assert.deepEqual(await nobody.error('cancel', { id, subject: 'user-1' }), [404, 'not_found']);

	assert.equal(await done('remove', 'billing'), 'The key billing is refused from now on.\n');
	await caller(key, 401);
	assert.equal((await nobody.call('paid', {})).status, 400, 'the others stay');
	await done('remove', 'billing.2');
	assert.deepEqual(lines(), before);
});

test('what would not be one key of one name is refused, and the file stays as it is', async () => {
	const text = readFileSync(api.keysFile, 'utf8');
	for (const [args, status, message] of [
		[['add', 'stack'], 1, /has a key stack already: choose another name/],
		[['remove', 'nobody'], 1, /has no key nobody/],
		[['remove', 'stac.'], 1, /has no key stac\./],
		[['add', 'a b'], 64, /the name of a key has 1 to 64 of/],
		[['add', 'x'.repeat(65)], 64, /the name of a key has 1 to 64 of/],
		[['add', 'x', '--tenant', 'Acme'], 64, /a tenant has 1 to 64 of a-z, 0-9, _ and -/],
		[['add', 'x', '--tenant', ''], 64, /a tenant has 1 to 64/],
		[['add', 'x', '--tenant', 'a\nb'], 64, /a tenant has 1 to 64/],
		[['add', 'x', '--tenant', '-'], 64, /leave --tenant out/],
	]) {
		const said = await run(...args);
		assert.deepEqual([said.status, said.out], [status, ''], args.join(' '));
		assert.match(said.err, message);
	}
	writeFileSync(api.keysFile, `${text}broken line\n`);
	const { status, err } = await run('add', 'x');
	writeFileSync(api.keysFile, text);
	assert.equal(status, 1);
	assert.match(err, /api-keys:2: the third word is not a SHA-256/);
});

test('keys that are added at the same time are all there', async () => {
	const names = Array.from({ length: 8 }, (_, i) => `many-${i}`);
	await Promise.all(names.map((name) => done('add', name)));
	assert.deepEqual(lines().map((line) => line.split(' ')[0]).filter((name) => name.startsWith('many-')).sort(), names);
	await Promise.all(names.map((name) => done('remove', name)));
	assert.equal(lines().length, 1);
});

test('a file that is not there is made, readable to those who can read the configuration', async () => {
	const text = readFileSync(api.keysFile, 'utf8');
	const folder = path.dirname(api.keysFile);
	const config = path.join(folder, 'other.json');
	writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(path.join(folder, 'api.json'), 'utf8')), api_keys_file: 'other-keys' }), { mode: 0o640 });
	const other = (...args) => urlmode(['api-key', ...args], { URLMODE_API_CONFIG: config });
	assert.deepEqual(await other('list'), { status: 0, out: `${folder}/other-keys:\n`, err: '' });
	assert.equal((await other('add', 'first')).status, 0);
	assert.equal(statSync(path.join(folder, 'other-keys')).mode & 0o777, 0o640);
	assert.equal(readFileSync(api.keysFile, 'utf8'), text);
});
