// The program api behind an nginx of its own, on a database without the callback programs.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { freePorts } from '../stack/harness.mjs';
import { until } from './wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVERS = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/**
 * @param {{ databaseUrl: string, keysFile: string, baseUrl: string, env?: Record<string, string>, server?: (folder: string) => string }} options
 *     env: of the program; server: further lines of nginx's server, in a folder that its workers can read
 * @returns {Promise<{ folder: string, env: { URLMODE_API_URL: string, URLMODE_API_KEY: string }, close(): Promise<void> }>}
 */
export async function startApiServer({ databaseUrl, keysFile, baseUrl, env: own = {}, server = () => '' }) {
	const folder = mkdtempSync(join(tmpdir(), 'urlmode-api-'));
	chmodSync(folder, 0o755); // for nginx's workers
	const at = (name) => join(folder, name);
	const [port] = await freePorts(1);
	const key = `umk_${randomBytes(32).toString('base64url')}`;
	writeFileSync(at('api-keys'), `model - ${createHash('sha256').update(key).digest('hex')}\n`);
	writeFileSync(at('api.json'), JSON.stringify({ base_url: baseUrl, keys_file: keysFile, database_url: databaseUrl }));
	writeFileSync(at('http.conf'), readFileSync(join(ROOT, 'nginx/urlmode/api-http.conf'), 'utf8').replace('unix:/run/urlmode-api/', `unix:${folder}/`));
	const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`).join(' ');
	writeFileSync(at('nginx.conf'), `daemon off; pid ${folder}/pid; error_log stderr emerg;
events { worker_connections 4096; }
http { access_log off; ${scratch} include ${folder}/http.conf; server { listen 127.0.0.1:${port}; ${server(folder)} include ${ROOT}/nginx/urlmode/api.conf; } }
`);
	const run = (command, args, env = {}) => {
		const child = spawn(command, args, { stdio: 'ignore', env: { ...SERVERS, ...env } });
		const ended = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
		return { async end(signal) {
			child.kill(signal);
			await ended;
		} };
	};
	const api = run('spawn-fcgi', ['-s', at('api.sock'), '-M', '0666', '-b', '1024', '-n', '--', join(ROOT, 'build/bin/api')], { URLMODE_CONFIG: at('api.json'), ...own });
	const nginx = run('nginx', ['-e', 'stderr', '-p', folder, '-c', at('nginx.conf')]);
	const env = { URLMODE_API_URL: `http://127.0.0.1:${port}`, URLMODE_API_KEY: key };
	const answers = () => until('the api answers', () => fetch(`${env.URLMODE_API_URL}/v1/create`, {
		method: 'POST', body: '{}', headers: { authorization: `Bearer ${key}` },
	}).then(({ status }) => status === 400, () => false));
	const close = async () => {
		await nginx.end('SIGTERM');
		await api.end('SIGTERM');
		rmSync(folder, { recursive: true });
	};
	try {
		await answers();
	} catch (error) {
		await close();
		throw error;
	}
	return { folder, env, close };
}
