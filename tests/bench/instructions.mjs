// Measures the instructions of one completion in a program. callgrind counts them for a fixed
// number of requests, one after another, so that other work of the machine does not change the
// result. valgrind emulates the same processor on every machine with AVX2.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { load } from './load.mjs';
import { FOLDER, ROOT } from './paths.mjs';
import { startNginx } from './peers/nginx.mjs';
import { freePorts, listening, start, stop } from './processes.mjs';

const COUNTED = 1_000;
const BEFORE = 100;

const folder = path.join(FOLDER, 'instructions');

/**
 * @param {import('./bed.mjs').Bed} bed
 * @param {string} program
 * @param {(from: number, to: number) => Promise<string>} requests writes those for a range of the elicitations, and
 *     answers the file
 */
export async function instructions(bed, program, requests) {
	const few = await collected(bed, program, await requests(0, BEFORE));
	const many = await collected(bed, program, await requests(BEFORE, 2 * BEFORE + COUNTED));
	return Math.round((many - few) / COUNTED);
}

async function collected(bed, program, file) {
	const [port] = await freePorts(1);
	const log = path.join(folder, 'program.log');

	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const valgrind = start(['spawn-fcgi', '-s', 'program.sock', '-n', '--', '/usr/bin/valgrind', '--tool=callgrind',
		`--callgrind-out-file=${folder}/callgrind.out`, path.join(ROOT, 'build/bin', program)],
	{ log, cwd: folder, env: { URLMODE_CONFIG: bed.stack.env.URLMODE_CONFIG } });
	await listening(valgrind, { path: path.join(folder, 'program.sock') }, log);
	const nginx = await startNginx(path.join(folder, 'nginx'), { port, upstream: `unix:${folder}/program.sock` });
	await load({ port, file, connections: 1 });
	await stop(nginx);
	await stop(valgrind);
	const [, count] = /Collected : (\d+)/.exec(readFileSync(log, 'utf8'));
	return Number(count);
}
