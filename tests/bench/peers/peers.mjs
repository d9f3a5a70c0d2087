// Starts every peer, each behind an nginx of its own.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { BIN, FOLDER, ROOT } from '../paths.mjs';
import { freePorts, listening, start } from '../processes.mjs';
import { forge, returnRequest } from '../requests.mjs';
import { startNginx } from './nginx.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {import('../bed.mjs').Bed} bed
 * @returns {Promise<Record<string, { port: number, processes: import('node:child_process').ChildProcess[] }>>}
 *     port: of its nginx
 */
export async function startPeers(bed) {
	const ports = await freePorts(6);
	const peers = {};

	for (const name of ['hono', 'batched']) {
		peers[name] = await startNode(bed, name, ports.pop(), ports.pop());
	}
	// One row, for the answer to a valid return.
	await bed.fill('urlmode', { to: 1 });
	peers.null = await startNull(bed, 'null', ports.pop(), {});
	peers['null page'] = await startNull(bed, 'null page', ports.pop(), { bend: forge });
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

/** A null responder that answers just what the program would. */
async function startNull(bed, name, port, change) {
	const folder = folderOf(name.replace(' ', '-'));
	const log = path.join(folder, 'program.log');
	writeFileSync(path.join(folder, 'answer'), answerTo(bed, returnRequest(bed.deployment, bed.elicitations[0], change)));
	const program = start(['spawn-fcgi', '-s', 'null.sock', '-b', '1024', '-n', '--', path.join(BIN, 'null'), 'answer'],
		{ log, cwd: folder });
	await listening(program, { path: path.join(folder, 'null.sock') }, log);
	const nginx = await startNginx(path.join(folder, 'nginx'), { port, upstream: `unix:${folder}/null.sock` });
	return { port, program, processes: [nginx, program] };
}

/** What the program, as plain CGI, answers to a request. */
function answerTo(bed, request) {
	const [, script, query] = /^GET ([^?]+)\?(\S+) /.exec(request);
	const [, cookie] = /^Cookie: (.*)\r$/m.exec(request);

	return execFileSync(path.join(ROOT, 'build/bin/oauth-return'), {
		env: {
			URLMODE_CONFIG: bed.stack.env.URLMODE_CONFIG, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: 'GET',
			SCRIPT_NAME: script, QUERY_STRING: query, HTTP_COOKIE: cookie,
		},
	});
}
