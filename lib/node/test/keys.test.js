import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { KeysFile } from '../src/core/keys.js';
import { keyLine, scratchFolder, scratchKeys, writeKeys } from './support/keys.js';

const secret = randomBytes(40);
const base64 = secret.toString('base64');

/** Longer than the interval at which the file is examined. */
const waitForCheck = () => sleep(1_100);

test('the first key mints, and all keys open', (t) => {
	const content = `# rotated in spring\n\n  \n${keyLine(7)}${keyLine(0)}\t255   ${randomBytes(32).toString('base64url')}\r\n`;
	const keys = new KeysFile(scratchKeys(t, content));
	assert.equal(keys.minting.kid, 7);
	assert.deepEqual([0, 7, 255, 1].map((kid) => keys.find(kid)?.kid), [0, 7, 255, undefined]);
});

test('base64 and base64url, padded or not, are the same key', (t) => {
	const bytes = Buffer.alloc(32, 0xfb);
	const spellings = [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
	const derived = spellings.map((text) => new KeysFile(scratchKeys(t, `1 ${text}\n`)).minting.shared('a purpose').toString('hex'));
	assert.equal(new Set(derived).size, 1);
});

const refusals = {
	'the file contains no key': ['', '\n', '# 1 abc\n'],
	'the line must be `<kid> <base64 of the key>`': ['1\n', `${base64}\n`, `1 ${base64} # mine\n`, `1 ${base64} 2\n`],
	'the kid must be a number from 0 to 255': [`256 ${base64}\n`, `-1 ${base64}\n`, `a ${base64}\n`, `1.0 ${base64}\n`,
		`0x1 ${base64}\n`, `1e1 ${base64}\n`],
	'the key must be base64 of at most 256 bytes': [`1 ${base64.slice(0, -4)}*AAA\n`, `1 ${base64}=\n`, `1 ${'A'.repeat(49)}\n`,
		`1 ${'A'.repeat(42)}B\n`, `1 ${Buffer.alloc(257).toString('base64')}\n`],
	'the key must have at least 32 bytes': [`1 ${randomBytes(31).toString('base64')}\n`, '1 AAAA\n'],
	'kid 3 is used twice': [keyLine(3) + keyLine(3), keyLine(3) + keyLine(1) + keyLine(3), `3 ${base64}\n03 ${base64}\n`],
};
for (const [reason, contents] of Object.entries(refusals)) {
	test(`the error names the file and the reason: ${reason}`, (t) => {
		for (const content of contents) {
			const file = scratchKeys(t, content);
			assert.throws(() => new KeysFile(file), (error) => {
				assert.equal(error.code, 'URLMODE_KEYS_FILE', `${JSON.stringify(content)} gave ${error}`);
				assert.ok(error.message.startsWith(file), error.message);
				assert.ok(error.message.endsWith(reason), `${JSON.stringify(content)} gave ${error.message}`);
				assert.ok(!error.stack.includes(base64.slice(0, 8)), 'the error contains the key');
				return true;
			});
		}
	});
}

test('the error names the line', (t) => {
	const file = scratchKeys(t, `# one\n${keyLine(1)}\n2 AAAA\n`);
	assert.throws(() => new KeysFile(file), { message: `${file}:4: the key must have at least 32 bytes` });
	const twice = scratchKeys(t, `${keyLine(1)}\n${keyLine(1)}`);
	assert.throws(() => new KeysFile(twice), { message: `${twice}:3: kid 1 is used twice` });
});

test('a file that other users may read or write is rejected, and one that the group may read is not', (t) => {
	for (const mode of [0o604, 0o602, 0o601, 0o644, 0o666]) {
		const file = scratchKeys(t);
		chmodSync(file, mode);
		assert.throws(() => new KeysFile(file), { message: `${file}: other users may read or write it; run chmod o= on it` });
	}
	for (const mode of [0o600, 0o400, 0o640, 0o660]) {
		const file = scratchKeys(t);
		chmodSync(file, mode);
		assert.equal(new KeysFile(file).minting.kid, 1);
	}
});

test('a missing file or a directory is rejected with its name', (t) => {
	const folder = scratchFolder(t);
	assert.throws(() => new KeysFile(join(folder, 'none')), { code: 'URLMODE_KEYS_FILE', message: /none: ENOENT/ });
	mkdirSync(join(folder, 'd'), { mode: 0o700 });
	assert.throws(() => new KeysFile(join(folder, 'd')), { code: 'URLMODE_KEYS_FILE', message: /\/d: this is not a regular file$/ });
});

test('an added key mints, and a removed one opens nothing', async (t) => {
	const [first, second] = [keyLine(1), keyLine(2)];
	const file = scratchKeys(t, first);
	const keys = new KeysFile(file);
	assert.equal(keys.find(2), undefined);
	writeKeys(file, second + first);
	assert.equal(keys.find(2)?.kid, 2, 'an unknown kid makes it examine the file at once');
	assert.equal(keys.minting.kid, 2);
	writeKeys(file, second);
	await waitForCheck();
	assert.equal(keys.find(1), undefined);
});

test('a key that was added in the same instant opens', (t) => {
	t.mock.method(performance, 'now', () => 1_000); // the clock need not go on between two calls
	const file = scratchKeys(t, keyLine(1));
	const keys = new KeysFile(file);
	writeKeys(file, keyLine(1) + keyLine(2));
	assert.equal(keys.find(2)?.kid, 2);
});

test('the file is not left open, whether it is valid or not', (t) => {
	const file = scratchKeys(t, keyLine(1));
	const keys = new KeysFile(file);
	t.mock.method(process, 'emitWarning', () => {});
	for (const [content, kid] of [[keyLine(2), 2], ['2 AAAA\n', undefined], [keyLine(3), 3]]) {
		writeKeys(file, content);
		assert.equal(keys.find(kid ?? 99)?.kid, kid);
	}
	const open = readdirSync('/proc/self/fd').map((fd) => {
		try {
			return readlinkSync(`/proc/self/fd/${fd}`);
		} catch {
			return undefined; // that of the folder itself
		}
	});
	assert.ok(open.length > 2);
	assert.equal(open.filter((name) => name === file).length, 0);
});

test('an invalid change emits one warning and keeps the keys', async (t) => {
	/** @type {string[]} */
	const warnings = [];
	const onWarning = (warning) => warnings.push(`${warning.code} ${warning.message}`);
	process.on('warning', onWarning);
	t.after(() => process.off('warning', onWarning));

	const file = scratchKeys(t);
	const keys = new KeysFile(file);
	const steps = [
		[() => writeFileSync(file, '1 AAAA\n'), `${file}:1: the key must have at least 32 bytes`],
		[() => chmodSync(file, 0o644), `${file}: other users may read or write it; run chmod o= on it`],
		[() => rmSync(file), `${file}: ENOENT: no such file or directory, open '${file}'`],
	];
	for (const [change, reason] of steps) {
		change();
		await waitForCheck();
		for (let i = 0; i < 3; i++) {
			assert.equal(keys.minting.kid, 1);
			assert.equal(keys.find(99), undefined);
		}
		await sleep(10);
		assert.deepEqual(warnings.splice(0), [`URLMODE_KEYS_FILE ${reason}; the keys stay as they were`]);
	}
	writeKeys(file, keyLine(5));
	await waitForCheck();
	assert.equal(keys.minting.kid, 5, 'a valid file is used again');
});

test('inspecting a key does not show its secret', (t) => {
	const { minting } = new KeysFile(scratchKeys(t, `1 ${base64}\n`));
	assert.ok(minting.shared('a purpose'));
	assert.equal(JSON.stringify(minting), '{"kid":1}');
});
