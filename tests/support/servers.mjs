// Other web servers than the stack's nginx in front of the same programs and the
// same database, with the files of nginx/others as they are, but for names of
// files, addresses and ports.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { PROGRAMS } from '../security/deployment.mjs';
import { request } from './http.mjs';
import { until } from './wait.mjs';

const NGINX = fileURLToPath(new URL('../../nginx', import.meta.url));
const SITE = 'callback.example.com';
const MODULES = '/usr/lib/apache2/modules';

/**
 * A folder for web servers that run as the stack's user: with the programs, and
 * for CGI a configuration that logs to `log`, which nobody else can read. Its
 * name is short, since the address of a unix socket has at most 107 bytes, and
 * has no space, which not every configuration can hold.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @returns {Promise<Installed>}
 * @typedef {{ stack: import('./stack.mjs').Stack, folder: string, config: string, log: string,
 *     configure: (change: (config: object) => void) => Promise<void>, close: () => Promise<void> }} Installed
 *     configure: changes the configuration of CGI
 */
export async function installPrograms(stack) {
	const folder = await mkdtemp(path.join(tmpdir(), 'urlmode-'));
	const log = path.join(stack.runDir, 'log/cgi.log');
	const config = path.join(stack.runDir, 'cgi.json'); // where its relative names lead
	const from = process.env.PROGRAM_DIR ?? fileURLToPath(new URL('../../build/bin', import.meta.url));
	let settings = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));

	await mkdir(path.join(folder, 'bin'));
	for (const name of PROGRAMS) {
		await copyFile(path.join(from, name), path.join(folder, 'bin', name));
		await chmod(path.join(folder, 'bin', name), 0o755);
	}
	await symlink(path.join(stack.runDir, 'sock'), path.join(folder, 'sock'));
	await symlink(path.join(stack.runDir, 'log'), path.join(folder, 'log'));
	settings = { ...settings, log_file: log };
	await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
	const { uid, gid } = await stack.user();
	if (uid !== undefined) {
		await chown(folder, uid, gid);
		await chown(config, uid, gid);
	}
	return {
		stack, folder, config, log,
		configure: (change) => {
			change(settings);
			return writeFile(config, JSON.stringify(settings));
		},
		close: () => rm(folder, { recursive: true }),
	};
}

/**
 * Each starts a web server in front of what is installed, and returns its
 * address and how to stop it. `more` is further configuration of its site.
 *
 * @type {Record<string, (installed: Installed, more?: string) =>
 *     Promise<{ baseUrl: string, close: () => Promise<void> }>>}
 */
export const SERVERS = {
	'Apache’s mod_proxy_fcgi': (installed, more) => startApache(installed, 'fastcgi', ['proxy', 'proxy_fcgi'], more),
	'Apache’s mod_cgid': (installed, more = '') => startApache(installed, 'cgi', ['cgid', 'env'], [
		`SetEnv URLMODE_CONFIG "${installed.config}"`, more,
	].join('\n')),
	lighttpd: startLighttpd,
	Caddy: startCaddy,
	fcgiwrap: startFcgiwrap,
};

/** Those that start a program for each request. */
export const CGI_SERVERS = Object.entries(SERVERS).filter(([name]) => /cgid|fcgiwrap/.test(name));

/** A file of nginx/, with other values in place of those that it has. */
async function place(file, values) {
	let text = await readFile(path.join(NGINX, file), 'utf8');

	for (const [old, value] of Object.entries(values)) {
		if (!text.includes(old)) {
			throw new Error(`${file} has no ${old}`);
		}
		text = text.replaceAll(old, value);
	}
	return text;
}

async function startApache(installed, kind, modules, more = '') {
	const { folder } = installed;
	const port = await freePort();
	const file = path.join(folder, `apache-${port}.conf`);
	const all = [
		'mpm_event', 'authz_core', 'authz_host', 'alias', 'headers', 'reqtimeout', 'setenvif', ...modules,
		...more.includes('AuthType Basic') ? ['authn_core', 'authn_file', 'authz_user', 'auth_basic'] : [],
	];

	await writeFile(file, [
		`ServerRoot "${folder}"`,
		'ServerName localhost',
		// In the five seconds of its default, a client on a busy machine sends into a connection that is just being closed.
		'KeepAliveTimeout 60',
		`Listen 127.0.0.1:${port}`,
		`PidFile "${folder}/apache-${port}.pid"`,
		`DefaultRuntimeDir "${folder}"`,
		`ErrorLog "${folder}/log/apache-${kind}.error.log"`,
		...all.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
		...kind === 'cgi' ? [`ScriptSock ${folder}/cgid-${port}.sock`] : [],
		`<VirtualHost 127.0.0.1:${port}>`,
		await place('others/apache/urlmode.conf', {
			'${APACHE_LOG_DIR}/urlmode.access.log': `${folder}/log/apache-${kind}.access.log`,
		}),
		await place(`others/apache/${kind}.conf`, kind === 'cgi'
			? { '/usr/local/lib/urlmode': `${folder}/bin` } : { '/run/urlmode/': `${folder}/sock/` }),
		more,
		'</VirtualHost>', '',
	].join('\n'));
	return serve(installed, port, [['/usr/sbin/apache2', '-DFOREGROUND', '-f', file]]);
}

async function startLighttpd(installed, more = '') {
	const { folder } = installed;
	const port = await freePort();
	const file = path.join(folder, 'lighttpd.conf');

	await writeFile(file, [
		`server.document-root = "${folder}/sock"`,
		'server.bind = "127.0.0.1"',
		`server.port = ${port}`,
		`server.upload-dirs = ( "${folder}" )`,
		`server.errorlog = "${folder}/log/lighttpd.error.log"`,
		'server.max-keep-alive-idle = 60',
		await place('others/lighttpd.conf', {
			[SITE]: `127.0.0.1:${port}`,
			'/run/urlmode/': `${folder}/sock/`,
			'/var/log/lighttpd/urlmode': `${folder}/log/lighttpd`,
		}),
		more, '',
	].join('\n'));
	return serve(installed, port, [['/usr/sbin/lighttpd', '-D', '-f', file]]);
}

async function startCaddy(installed, more = '') {
	const { folder } = installed;
	const port = await freePort();
	const file = path.join(folder, 'Caddyfile');

	await writeFile(file, await place('others/Caddyfile', {
		'{\n\tservers': '{\n\tadmin off\n\tauto_https off\n\tservers',
		[`\n${SITE} {`]: `\nhttp://127.0.0.1:${port} {\n${more}`,
		'/run/urlmode/': `${folder}/sock/`,
		'/var/log/caddy/urlmode': `${folder}/log/caddy`,
	}));
	return serve(installed, port, [['caddy', 'run', '--config', file, '--adapter', 'caddyfile']]);
}

/**
 * fcgiwrap behind an nginx of its own, which does not send GATEWAY_INTERFACE:
 * fcgiwrap does not add it, and not every configuration has it.
 */
async function startFcgiwrap(installed) {
	const { folder } = installed;
	const port = await freePort();
	const nginx = path.join(folder, 'nginx');
	const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

	await cp(path.join(NGINX, 'urlmode'), path.join(nginx, 'urlmode'), { recursive: true });
	await mkdir(path.join(nginx, 'urlmode/fastcgi.d'));
	await writeFile(path.join(nginx, 'urlmode/fastcgi.conf'), await place('urlmode/fastcgi.conf', {
		'fastcgi_param GATEWAY_INTERFACE CGI/1.1;\n': '',
	}));
	await writeFile(path.join(nginx, 'urlmode/upstreams.conf'), await place('others/fcgiwrap/upstreams.conf', {
		'/run/fcgiwrap.socket': `${folder}/fcgiwrap.sock`,
	}));
	await writeFile(path.join(nginx, 'urlmode/fastcgi.d/fcgiwrap.conf'), `${await place('others/fcgiwrap/fcgiwrap.conf', {
		'/usr/local/lib/urlmode': `${folder}/bin`,
	})}\nfastcgi_param URLMODE_CONFIG "${installed.config}";\n`);
	await writeFile(path.join(nginx, 'nginx.conf'), `
		daemon off;
		pid ${folder}/nginx.pid;
		events {}
		http {
			${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n')}
			include urlmode/http.conf;
			include urlmode/upstreams.conf;
			server {
				listen 127.0.0.1:${port};
				access_log ${folder}/log/fcgiwrap.access.log urlmode;
				include urlmode/server.conf;
			}
		}
	`);
	return serve(installed, port, [
		['fcgiwrap', '-f', '-c', '4', '-s', `unix:${folder}/fcgiwrap.sock`],
		['/usr/sbin/nginx', '-e', `${folder}/log/fcgiwrap.error.log`, '-c', path.join(nginx, 'nginx.conf')],
	]);
}

/** Runs the commands as the stack's user until `close`; waits until /done is served. */
async function serve({ stack, folder }, port, commands) {
	const output = await open(path.join(stack.runDir, 'log/servers.log'), 'a');
	const children = [];
	const baseUrl = `http://127.0.0.1:${port}`;

	for (const [command, ...args] of commands) {
		children.push(spawn(command, args, {
			...await stack.user(), cwd: folder, stdio: ['ignore', output.fd, output.fd], detached: true,
			env: { PATH: process.env.PATH, TMPDIR: folder, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
		}));
	}
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
