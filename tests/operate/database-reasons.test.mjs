// libpq's own reason is in the log of a program to which the database says no, for each way to give
// it a password; and with what the database takes it is well.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { BIN } from '../security/deployment.mjs';
import { startStack } from '../support/stack.mjs';
import { until } from '../support/wait.mjs';

let stack;
let folder;
let url;
let owner;

before(async () => {
	stack = await startStack({ name: 'operate-database-reasons' });
	owner = await stack.user();
	url = new URL(JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8')).database_url);
	folder = path.join(stack.runDir, 'reasons');
	await mkdir(folder, { mode: 0o755 });
	await give(folder);
});

after(() => stack?.close());

async function give(file) {
	if (owner.uid !== undefined) await chown(file, owner.uid, owner.gid);
}

async function put(name, text, mode = 0o600) {
	const file = path.join(folder, name);
	await writeFile(file, text);
	await give(file);
	await chmod(file, mode);
	return file;
}

/** A program with this connection, and what it has logged when `seen` is there. */
async function run(databaseUrl, env, seen) {
	const config = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));
	delete config.log_file;
	config.keys_file = stack.env.URLMODE_KEYS_FILE;
	config.providers = { demo: config.providers.demo };
	config.database_url = databaseUrl;
	const file = await put('config.json', JSON.stringify(config), 0o640);
	const child = spawn(path.join(BIN, 'status'), ['--listen', path.join(folder, 'status.sock')],
		{ ...owner, cwd: stack.runDir, env: { PATH: process.env.PATH, HOME: folder, ...env, URLMODE_CONFIG: file }, stdio: ['ignore', 'ignore', 'pipe'] });
	const ended = once(child, 'close');
	let text = '';
	child.stderr.on('data', (bytes) => { text += bytes; });
	try {
		await until(`its log has ${seen}`, () => seen.test(text), { timeout: 15_000 });
	} catch (error) {
		error.message += `: ${text}`;
		throw error;
	} finally {
		child.kill();
		await ended;
	}
	return text;
}

const passfile = (password) => `127.0.0.1:${url.port}:urlmode:urlmode_cgi:${password}\n`;
const without = () => Object.assign(new URL(url), { password: '' }).href;

for (const [name, make, reason] of [
	['a wrong password in the URL', async () => [Object.assign(new URL(url), { password: 'hunter2' }).href, {}], /password authentication failed for user/],
	['a wrong PGPASSWORD', async () => [without(), { PGPASSWORD: 'hunter2' }], /password authentication failed for user/],
	['no password', async () => [without(), {}], /no password supplied/],
	['a wrong one in a passfile', async () => [`${without()}?passfile=${encodeURIComponent(await put('wrong', passfile('hunter2')))}`, {}],
		/password authentication failed for user/],
	['a passfile that others can read', async () => [without(), { PGPASSFILE: await put('open', passfile(url.password), 0o644) }], /no password supplied/],
	['a service that is not there', async () => ['postgresql:///?service=elsewhere', { PGSERVICEFILE: await put('services', '[urlmode]\n') }], /definition of service \W*elsewhere\W* not found/],
	['a socket that is not there', async () => [`postgresql://urlmode_cgi@/urlmode?host=/nonexistent&port=${url.port}`, {}], /connection to server on socket .*No such file or directory/],
]) {
	test(`refused: ${name}`, async () => {
		const [databaseUrl, env] = await make();
		const text = await run(databaseUrl, env, reason);
		// libpq itself warns of a passfile.
		for (const line of text.trim().split('\n')) if (!line.startsWith('WARNING: password file')) JSON.parse(line);
		assert.ok(!text.includes('hunter2') && !text.includes(url.password), 'no password is in the log');
	});
}
