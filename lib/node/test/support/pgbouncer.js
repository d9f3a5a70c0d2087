// A PgBouncer in transaction mode in front of the tests' PostgreSQL: Debian's
// binary, run as the user postgres when the tests run as root.

import { spawn } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, identity } from './cluster.js';
import { scratchFolder } from './keys.js';

/**
 * @param {import('node:test').TestContext} t
 * @param {string} url of the database behind it, with its user's password
 * @param {{ mode?: 'transaction' | 'session', size?: number }} [options]
 *     size: connections to the database
 * @returns {Promise<string>} the same database through the pooler
 */
export async function startPgBouncer(t, url, { mode = 'transaction', size = 4 } = {}) {
	const target = new URL(url);
	const [user, password] = [target.username, target.password].map(decodeURIComponent);
	const folder = scratchFolder(t);
	const who = await identity();
	const port = await freePort();
	const file = (name) => join(folder, name);
	writeFileSync(file('users'), `"${user}" "${password}"\n`);
	writeFileSync(file('ini'), `
[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${file('users')}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
`);
	if (who.uid !== undefined) for (const name of ['', 'users', 'ini']) chownSync(file(name), who.uid, who.gid);

	const child = spawn('pgbouncer', [file('ini')], { ...who, stdio: ['ignore', 'ignore', 'ignore'] });
	const ended = new Promise((resolve) => child.once('error', resolve).once('exit', resolve));
	t.after(() => {
		// SIGTERM waits for its clients, from PgBouncer 1.23 on.
		child.kill('SIGKILL');
		return ended;
	});
	while (!await answers(port)) {
		if (child.exitCode !== null || child.pid === undefined) throw new Error('pgbouncer did not start');
		await sleep(20);
	}
	target.port = port;
	return target.href;
}

function answers(port) {
	return new Promise((resolve) => {
		const socket = createConnection(port, '127.0.0.1');
		socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
		socket.once('close', () => {}).setTimeout(1_000, () => socket.destroy());
		socket.once('connect', () => socket.end());
	});
}
