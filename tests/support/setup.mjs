// For the tests of urlmode setup: a cluster whose roles have no passwords, and a folder in the place of /etc. What is exported
// as a variable is another one for each test.

import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach } from 'node:test';

import pg from 'pg';

import { asUser, urlmode } from './command.mjs';
import { startStack } from './stack.mjs';

export const HOST = 'https://callback.example:8443';
export const ROLES = ['urlmode_cgi', 'urlmode_server', 'urlmode_operator'];
export const FILES = ['config.json', 'keys', 'operator.env', 'server.env'];
export const DATABASE = 'callbacks';
export const IS_ROOT = process.getuid() === 0;

export let stack;
export let folder;
export let etc;
export let nginx;
export let admin;

/** @param {string} name of the stack whose cluster the tests of a file set up */
export function openSetup(name) {
	before(async () => {
		stack = await startStack({ name });
		await stack.sql("ALTER SYSTEM SET log_statement = 'all'");
		await stack.sql('SELECT pg_reload_conf()');
		admin = new URL(stack.env.URLMODE_ADMIN_DATABASE_URL);
		admin.pathname = `/${DATABASE}`;
	});

	beforeEach(async () => {
		folder = mkdtempSync(path.join(tmpdir(), 'urlmode setup '));
		chmodSync(folder, 0o755);
		etc = path.join(folder, 'etc/urlmode');
		nginx = path.join(folder, 'nginx');
		mkdirSync(nginx);
		if (!isKept) await stack.sql(`DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
		await Promise.all(ROLES.map((role) => stack.sql(`ALTER ROLE ${role} PASSWORD NULL`)));
	});

	after(() => stack?.close());
}

/** For tests that look at files alone: each finds the database of the one before, since to make it takes the longest. */
let isKept = false;
export function keepDatabase() {
	before(() => { isKept = true; });
	after(() => { isKept = false; });
}

export const env = () => ({ URLMODE_ADMIN_DATABASE_URL: admin.href });
export const folders = () => [...asUser(), '--etc', etc, '--nginx', nginx];
export const options = () => ['--user-check', 'remote-user', ...folders()];
export const setup = (args = [], more = {}, command = undefined) => urlmode(['setup', ...options(), ...args, HOST], { ...env(), ...more }, command);

export async function done(...all) {
	const said = await setup(...all);
	assert.deepEqual([said.status, said.err], [0, '']);
	return said.out;
}

export const read = (name) => readFileSync(path.join(etc, name), 'utf8');
export const config = () => JSON.parse(read('config.json'));
export const urlIn = (name) => /_DATABASE_URL=(.*)/.exec(read(name))[1];
export const urls = () => [config().database_url, urlIn('server.env'), urlIn('operator.env')];

/** Every file below a folder, with what it is. */
export function everything(below = folder) {
	return readdirSync(below, { withFileTypes: true }).flatMap((entry) => {
		const file = path.join(below, entry.name);
		const { mode, uid, gid, mtimeMs } = lstatSync(file);
		return [[file, mode, uid, gid, entry.isFile() ? [mtimeMs, readFileSync(file, 'utf8')] : []],
			...entry.isDirectory() ? everything(file) : []];
	});
}

export const passwords = () => stack.sql(
	'SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY ($1) ORDER BY rolname', [ROLES]);
export const databases = () => stack.sql('SELECT datname FROM pg_database ORDER BY datname');

export async function loginOf(connectionString) {
	const client = new pg.Client({ connectionString });
	await client.connect();
	const { rows: [{ login }] } = await client.query('SELECT current_user AS login');
	await client.end();
	return login;
}
