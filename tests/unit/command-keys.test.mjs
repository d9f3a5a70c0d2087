// SPDX-License-Identifier: MIT
// urlmode keys: the keys file after each step, and the refusals.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';

import { noteArguments, urlmode } from '../support/command.mjs';

const DAY = 86_400;
const folder = mkdtempSync(path.join(tmpdir(), 'urlmode keys '));
const FILE = path.join(folder, 'etc/keys');
const CONFIG = path.join(folder, 'etc/config.json');
const secrets = Array.from({ length: 4 }, () => randomBytes(32).toString('base64'));

after(() => rmSync(folder, { recursive: true }));

function configure() {
	writeFileSync(CONFIG, JSON.stringify({
		base_url: 'https://callback.example', keys_file: 'keys', database_url: 'host=/nonexistent', providers: { demo: { kind: 'oauth' } },
	}), { mode: 0o640 });
}

function write(text, mode = 0o640) {
	writeFileSync(FILE, text);
	chmodSync(FILE, mode);
}

beforeEach(() => {
	rmSync(path.join(folder, 'etc'), { recursive: true, force: true });
	mkdirSync(path.join(folder, 'etc'));
	configure();
	write(`1 ${secrets[0]}\n`);
});

const keys = async (...args) => {
	const said = await urlmode(['keys', ...args], { URLMODE_CONFIG: CONFIG });
	for (const secret of [...secrets, ...[...read().matchAll(/^\d+ (\S+)$/gm)].map(([, each]) => each)]) {
		assert.ok(!(said.out + said.err).includes(secret), 'no secret is printed');
	}
	assert.deepEqual(readdirSync(path.join(folder, 'etc')).sort(), ['config.json', 'keys'], 'nothing is left beside it');
	return said;
};
const read = () => (existsSync(FILE) ? readFileSync(FILE, 'utf8') : '');
const kids = () => [...read().matchAll(/^(\d+) /gm)].map(([, kid]) => Number(kid));

async function done(...args) {
	const { status, out, err } = await keys(...args);
	assert.deepEqual([status, err], [0, '']);
	return out;
}

async function refused(message, ...args) {
	const before = read();
	const { status, out, err } = await keys(...args);
	assert.deepEqual([status, out], [1, '']);
	assert.match(err, message);
	assert.equal(read(), before, 'the file is as it was');
}

/** Lets days pass since what the notes say. */
const passDays = (days) => write(read().replaceAll(/^# (\S+)/gm, (_, at) => `# ${new Date(Date.parse(at) - days * DAY * 1000).toISOString().slice(0, 19)}Z`));

/** What comes once a day has passed: tests/operate/command-keys.test.mjs has the answers of a database. */
const WITHOUT_DATABASE = /URLMODE_OPERATOR_DATABASE_URL[^]*nobody knows what still needs key 1 without the database; --force/;

describe('a rotation', () => {
	test('is a new key below, that key on top, and the old one dropped when nothing needs it', async () => {
		assert.match(await done('rotate'), /Key 2 is in .*\n.*\n.*Copy the file to the other callback hosts and to every MCP server/);
		assert.deepEqual(kids(), [1, 2]);
		assert.match(await done('rotate', '--promote'), /Key 2 seals from now on, and key 1 only opens[^]*In 1 day: urlmode keys drop 1/);
		assert.deepEqual(kids(), [2, 1]);
		await refused(/key 1 may be needed for 1 day more/, 'drop', '1');
		passDays(2);
		await refused(WITHOUT_DATABASE, 'drop', '1');
		assert.match(await done('drop', '--force', '1'), /Key 1 is dropped/);
		assert.deepEqual(kids(), [2]);
		assert.match(await done('list'), /key 2 seals and opens since 20/);
	});

	test('keeps secrets, comments, owner and mode', async () => {
		write(`# ours\n\n1 ${secrets[0]}\n  2\t${secrets[1]}\n# the end\n`, 0o600);
		await done('rotate');
		assert.ok(read().startsWith(`# ours\n\n1 ${secrets[0]}\n  2\t${secrets[1]}\n3 `));
		assert.match(read(), /\n3 [A-Za-z0-9+/]{43}=\n# the end\n# \S+Z key 3 added\n$/);
		assert.equal(statSync(FILE).mode & 0o777, 0o600);
		chmodSync(FILE, 0o440);
		await done('rotate', '--promote');
		assert.equal(statSync(FILE).mode & 0o777, 0o440);
		assert.deepEqual(kids(), [3, 1]);
		assert.ok(read().includes(`  2\t${secrets[1]}`));
	});

	test('each key is another, of 32 bytes', async () => {
		await done('rotate');
		const [first, second] = [...read().matchAll(/^\d+ (\S+)$/gm)].map(([, secret]) => secret);
		assert.notEqual(first, second);
		assert.equal(Buffer.from(second, 'base64').length, 32);
	});

	test('goes one step after the other', async () => {
		await refused(/no key was added that does not seal yet/, 'rotate', '--promote');
		await done('rotate');
		await refused(/key 2 was added and does not seal yet/, 'rotate');
		await done('rotate', '--promote');
		await refused(/no key was added/, 'rotate', '--promote');
		await done('rotate');
		assert.deepEqual(kids(), [2, 1, 3]);
	});

	test('does not take an id again that was dropped', async () => {
		await done('rotate');
		await done('rotate', '--promote');
		await done('drop', '--force', '1');
		await done('rotate');
		await done('drop', '3');
		await done('rotate');
		assert.deepEqual(kids(), [2, 4]);
		write(`2 ${secrets[0]}\n7 ${secrets[1]}\n`);
		await done('drop', '--force', '7');
		await done('rotate');
		assert.deepEqual(kids(), [2, 8]);
	});

	test('with a key that programs would refuse is not begun', async () => {
		const bin = path.join(folder, 'short');
		mkdirSync(bin);
		writeFileSync(path.join(bin, 'openssl'), '#!/bin/sh\necho AAAA\n', { mode: 0o755 });
		const before = read();
		const { status, err } = await urlmode(['keys', 'rotate'], { URLMODE_CONFIG: CONFIG, PATH: `${bin}:${process.env.PATH}` });
		assert.equal(status, 1);
		assert.match(err, /keys\.\w+:/);
		assert.equal(read(), before);
		assert.deepEqual(readdirSync(path.join(folder, 'etc')).sort(), ['config.json', 'keys']);
	});

	test('goes on with 0 after 255, and not with what is there', async () => {
		write(`255 ${secrets[0]}\n0 ${secrets[1]}\n`);
		await done('rotate');
		assert.deepEqual(kids(), [255, 0, 1]);
	});

	test('has no secret on a command line', async () => {
		const noting = await noteArguments(path.join(folder, 'bin'), ['openssl', 'sed', 'awk', 'cat', 'grep', 'mv', 'chmod']);
		await urlmode(['keys', 'rotate'], { URLMODE_CONFIG: CONFIG, PATH: noting.PATH });
		await urlmode(['keys', 'rotate', '--promote'], { URLMODE_CONFIG: CONFIG, PATH: noting.PATH });
		const notes = await noting.notes();
		assert.match(notes, /^openssl rand/m);
		for (const [, secret] of read().matchAll(/^\d+ (\S+)$/gm)) {
			assert.ok(!notes.includes(secret));
		}
		assert.deepEqual(kids(), [2, 1]);
	});

	test('follows a link to the file', async () => {
		const target = path.join(folder, 'keys-elsewhere');
		writeFileSync(target, read(), { mode: 0o600 });
		rmSync(FILE);
		symlinkSync(target, FILE);
		await done('rotate');
		assert.deepEqual(kids(), [1, 2]);
		assert.match(readFileSync(target, 'utf8'), /^2 /m);
	});
});

describe('drop', () => {
	test('the key that seals: refused, with force as well', async () => {
		await refused(/key 1 seals/, 'drop', '1');
		await refused(/key 1 seals/, 'drop', '--force', '1');
	});

	test('a key that is not there', async () => {
		await refused(/there is no key 7/, 'drop', '7');
		await refused(/there is no key 1\*/, 'drop', '1*');
	});

	test('one that never sealed: at once', async () => {
		await done('rotate');
		await done('drop', '2');
		assert.deepEqual(kids(), [1]);
	});

	test('of keys that were changed by hand: by when the file was changed', async () => {
		write(`2 ${secrets[1]}\n1 ${secrets[0]}\n`);
		await refused(/may be needed for 1 day more/, 'drop', '1');
		utimesSync(FILE, new Date(), new Date(Date.now() - 1.1 * DAY * 1000));
		await refused(WITHOUT_DATABASE, 'drop', '1');
	});

	test('one that was added, moved to the top by hand, and followed by another: as one that has sealed', async () => {
		await done('rotate');
		const [first, second, ...notes] = read().split('\n');
		write([second, first, ...notes].join('\n'));
		await done('rotate');
		await done('rotate', '--promote');
		assert.deepEqual(kids(), [3, 2, 1]);
		await refused(/key 2 may be needed for 1 day more/, 'drop', '2');
	});

	test('counts from when the next key sealed, not from a later one', async () => {
		await done('rotate');
		await done('rotate', '--promote');
		passDays(5);
		await done('rotate');
		await done('rotate', '--promote');
		await refused(/key 2 may be needed/, 'drop', '2');
		await refused(WITHOUT_DATABASE, 'drop', '1');
	});
});

describe('list', () => {
	test('says which seals, and what the others are for', async () => {
		write(`1 ${secrets[0]}\n`);
		await done('rotate');
		assert.match(await done('list'), /key 1 seals and opens\n.*key 2 opens, added 20\S+Z\n$/);
		await done('rotate', '--promote');
		assert.match(await done('list'), /key 2 seals and opens since 20\S+Z\n.*key 1 opens, and sealed until 20\S+Z\n$/);
	});
});

describe('a dry run', () => {
	test('says what would be done, and changes nothing', async () => {
		const before = read();
		assert.match(await done('rotate', '--dry-run'), /would add key 2 below/);
		assert.equal(read(), before);
		await done('rotate');
		const rotated = read();
		assert.match(await done('rotate', '--promote', '--dry-run'), /would move key 2 to the top/);
		assert.match(await done('drop', '2', '--dry-run'), /would drop key 2/);
		assert.equal(read(), rotated);
	});
});

describe('a file that the programs refuse stays as it is', () => {
	for (const [name, text, mode, message] of [
		['others can read it', `1 ${secrets[0]}\n`, 0o644, /keys/],
		['a short key', '1 AAAA\n', 0o640, /keys/],
		['no key', '# nothing\n', 0o640, /keys/],
	]) {
		test(name, async () => {
			write(text, mode);
			await refused(message, 'rotate');
			await refused(message, 'list');
		});
	}

	test('paths may be relative', async () => {
		const { status, out } = await urlmode(['keys', 'rotate'], { URLMODE_CONFIG: 'etc/config.json' }, undefined, folder);
		assert.equal(status, 0);
		assert.ok(out.includes(FILE));
		assert.deepEqual(kids(), [1, 2]);
	});

	test('no configuration', async () => {
		rmSync(CONFIG);
		const { status, err } = await urlmode(['keys', 'list'], { URLMODE_CONFIG: CONFIG });
		assert.equal(status, 1);
		assert.match(err, /config\.json: No such file/);
	});
});
