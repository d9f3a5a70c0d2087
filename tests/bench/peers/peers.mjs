// Starts every peer, each behind an nginx of its own.

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { BIN, FOLDER } from '../paths.mjs';
import { freePorts, listening, start } from '../processes.mjs';
import { startNginx } from './nginx.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {import('../bed.mjs').Bed} bed
 * @returns {Promise<Record<string, { port: number, processes: import('node:child_process').ChildProcess[] }>>}
 *     port: of its nginx
 */
export async function startPeers(bed) {
	const ports = await freePorts(5);
	const peers = {};

	for (const name of ['hono', 'batched']) {
		peers[name] = await startNode(bed, name, ports.pop(), ports.pop());
	}
	peers.null = await startNull(ports.pop());
	return peers;
}

function folderOf(name) {
	const folder = path.join(FOLDER, 'peers', name);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	return folder;
}

async function startNode(bed, name, port, own) {
	const folder = folderOf(name);
	const log = path.join(folder, 'program.log');
	const program = start([process.execPath, path.join(HERE, `${name}.mjs`)], {
		log, env: { ...bed.stack.env, PORT: String(own), NODE_ENV: 'production' },
	});
	await listening(program, { host: '127.0.0.1', port: own }, log);
	const nginx = await startNginx(path.join(folder, 'nginx'), {
		port, upstream: `127.0.0.1:${own}`, http: true,
	});
	return { port, program, processes: [nginx, program] };
}

async function startNull(port) {
	const folder = folderOf('null');
	const log = path.join(folder, 'program.log');
	const program = start(['spawn-fcgi', '-s', 'null.sock', '-b', '1024', '-n', '--', path.join(BIN, 'null')],
		{ log, cwd: folder });
	await listening(program, { path: path.join(folder, 'null.sock') }, log);
	const nginx = await startNginx(path.join(folder, 'nginx'), { port, upstream: `unix:${folder}/null.sock` });
	return { port, program, processes: [nginx, program] };
}
