// Runs the programs as plain CGI (RFC 3875) behind other web servers, with the
// same database: with Apache's mod_cgi, and with fcgiwrap behind nginx.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import process from 'node:process';

import { request } from './http.mjs';
import { until } from './wait.mjs';

const ROUTES = {
	'/connect': 'connect', '/oauth': 'oauth-return', '/payment': 'payment-return', '/webhook': 'webhook',
	'/done': 'status', '/status': 'status', '/healthz': 'status',
};
const MODULES = { mpm_prefork: 'mpm_prefork', authz_core: 'authz_core', alias: 'alias', cgi: 'cgi', env: 'env' };

/**
 * A folder with the programs, a configuration that logs to `log`, and
 * nothing that another user than the stack's could read.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @returns {Promise<{ folder: string, config: string, log: string }>}
 */
export async function installCgi(stack) {
	const folder = path.join(stack.runDir, 'cgi');
	const log = path.join(stack.runDir, 'log/cgi.log');
	const config = path.join(stack.runDir, 'cgi.json'); // where its relative names lead
	const from = process.env.PROGRAM_DIR ?? fileURLToPath(new URL('../../build/bin', import.meta.url));
	const settings = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));

	await mkdir(folder, { recursive: true });
	for (const name of new Set(Object.values(ROUTES))) {
		await copyFile(path.join(from, name), path.join(folder, name));
		await chmod(path.join(folder, name), 0o755);
	}
	await writeFile(config, JSON.stringify({ ...settings, log_file: log }), { mode: 0o600 });
	const { uid, gid } = await stack.user();
	if (uid !== undefined) {
		await chown(folder, uid, gid);
		await chown(config, uid, gid);
	}
	return { folder, config, log };
}

/** Starts Apache with mod_cgi. Returns its URL and how to stop it. */
export async function startApache(stack, { folder, config }) {
	const port = await freePort();
	const file = path.join(folder, 'apache.conf');

	await writeFile(file, [
		`ServerRoot "${folder}"`,
		'ServerName localhost',
		`Listen 127.0.0.1:${port}`,
		`PidFile "${folder}/apache.pid"`,
		`DefaultRuntimeDir "${folder}"`,
		`ErrorLog "${stack.runDir}/log/apache-error.log"`,
		...Object.entries(MODULES).map(([name, so]) => (
			`LoadModule ${name}_module /usr/lib/apache2/modules/mod_${so}.so`)),
		`SetEnv URLMODE_CONFIG "${config}"`,
		...Object.entries(ROUTES).map(([route, name]) => `ScriptAlias ${route} "${folder}/${name}"`),
		`<Directory "${folder}">`, 'Require all granted', '</Directory>', '',
	].join('\n'));
	return serve(stack, port, [['/usr/sbin/apache2', '-DFOREGROUND', '-f', file]]);
}

/** Starts fcgiwrap behind an nginx of its own with the snippets of the deployment. */
export async function startFcgiwrap(stack, { folder, config }) {
	const port = await freePort();
	const file = path.join(folder, 'nginx.conf');
	const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

	await writeFile(file, `
		daemon off;
		pid cgi/nginx.pid;
		events {}
		http {
			${temporary.map((kind) => `${kind}_temp_path cgi/${kind};`).join('\n')}
			include ../urlmode/http.conf;
			access_log off;
			server {
				listen 127.0.0.1:${port};
				error_log stderr emerg;
				set $urlmode_user "";
				${Object.entries(ROUTES).map(([route, name]) => `
				location ${route} {
					include ../urlmode/fastcgi.conf;
					fastcgi_param SCRIPT_FILENAME "${folder}/${name}";
					fastcgi_param URLMODE_CONFIG "${config}";
					fastcgi_pass unix:cgi/fcgiwrap.sock;
				}`).join('\n')}
			}
		}
	`);
	// The path of a unix socket has at most 107 bytes: it is relative to the run directory.
	return serve(stack, port, [
		['fcgiwrap', '-f', '-c', '4', '-s', 'unix:cgi/fcgiwrap.sock'],
		['/usr/sbin/nginx', '-e', path.join(stack.runDir, 'log/cgi-nginx.log'), '-p', `${stack.runDir}/`, '-c', file],
	]);
}

/** Runs the commands as the stack's user until `close`; waits until /done is served. */
async function serve(stack, port, commands) {
	const user = await stack.user();
	const output = await open(path.join(stack.runDir, 'log/cgi-servers.log'), 'a');
	const children = commands.map(([command, ...args]) => spawn(command, args, {
		...user, cwd: stack.runDir, stdio: ['ignore', output.fd, output.fd], detached: true,
		env: { ...process.env, TMPDIR: path.join(stack.runDir, 'tmp') },
	}));
	const baseUrl = `http://127.0.0.1:${port}`;

	async function close() {
		await Promise.all(children.map(endGroup));
		await output.close();
	}
	try {
		await until(`${commands[0][0]} serves`, async () => {
			if (children.some(({ exitCode }) => exitCode !== null)) {
				throw new Error(`${commands.map(([name]) => name).join(' or ')} did not start`);
			}
			return (await request(`${baseUrl}/done`).catch(() => undefined))?.status === 200;
		});
	} catch (error) {
		await close();
		throw error;
	}
	return { baseUrl, close };
}

/** Stops a process and its children, which fcgiwrap would leave running. */
async function endGroup(child) {
	const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;

	for (const signal of ['SIGTERM', 'SIGKILL']) {
		try {
			process.kill(-child.pid, signal);
		} catch {
			return; // nobody is left
		}
		await ended;
	}
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	server.close();
	await once(server, 'close');
	return port;
}
