// Starts every peer, each behind an nginx of its own.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { BIN, FOLDER, ROOT } from '../paths.mjs';
import { freePorts, listening, start } from '../processes.mjs';
import { forge, returnRequest } from '../requests.mjs';
import { sealReturn } from '../sealed.mjs';
import { startNginx } from './nginx.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {import('../bed.mjs').Bed} bed
 * @returns {Promise<Record<string, { port: number, requests?: string, socket?: string, processes: import('node:child_process').ChildProcess[] }>>}
 *     port: of its nginx; requests: the file of its own; socket: of its program
 */
export async function startPeers(bed) {
	const ports = await freePorts(7);
	const peers = {};

	for (const name of ['hono', 'batched']) {
		peers[name] = await startNode(bed, name, ports.pop(), ports.pop());
	}
	// One row, for the answer to a valid return.
	await bed.fill('urlmode', { to: 1 });
	const request = returnRequest(bed.deployment, bed.elicitations[0]);
	const answer = answerTo(bed, request);
	peers.null = await startNull('null', ports.pop(), answer);
	peers.ceiling = await startCeiling(bed, ports.pop(), answer, request);
	const forged = returnRequest(bed.deployment, bed.elicitations[0], { bend: forge });
	peers['null page'] = await startNull('null page', ports.pop(), answerTo(bed, forged));
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
function startNull(name, port, answer) {
	return startResponder(name.replace(' ', '-'), port, answer, { command: ['null', 'answer'] });
}

/** It writes results and outcomes as long as those of this request. */
async function startCeiling(bed, port, answer, request) {
	const { keys } = bed.deployment;
	const { database_url: database } = JSON.parse(readFileSync(bed.stack.env.URLMODE_CONFIG, 'utf8'));
	const query = new URLSearchParams(/\?(\S+) /.exec(request)[1]);
	const { result, outcome } = sealReturn(keys, bed.elicitations[0], { code: query.get('code'), iss: query.get('iss') });
	const peer = await startResponder('ceiling', port, answer, {
		command: ['ceiling', 'answer', String(result.length), String(outcome.length)], env: { DATABASE_URL: database },
	});
	return { ...peer, requests: bed.openReturns };
}

/** A FastCGI program of peers/, which reads what it is to answer from a file. */
async function startResponder(name, port, answer, { command: [binary, ...args], env }) {
	const folder = folderOf(name);
	const log = path.join(folder, 'program.log');
	const socket = path.join(folder, 'program.sock');
	writeFileSync(path.join(folder, 'answer'), answer);
	const program = start(['spawn-fcgi', '-s', 'program.sock', '-b', '1024', '-n', '--', path.join(BIN, binary), ...args],
		{ log, cwd: folder, env });
	await listening(program, { path: socket }, log);
	const nginx = await startNginx(path.join(folder, 'nginx'), { port, upstream: `unix:${socket}` });
	return { port, socket, program, processes: [nginx, program] };
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
