// Runs load.c and reads its results.

import path from 'node:path';

import { BIN } from './paths.mjs';
import { run } from './processes.mjs';

/**
 * @typedef {{ count: number, rate: number, wrong: number, p50: number, p90: number, p99: number, p999: number, max: number }} Tally
 *     times in milliseconds
 *
 * @param {{ port: number, file: string, connections?: number, seconds?: number, warmUp?: number, rate?: number,
 *     times?: string, loop?: boolean }} options
 * @returns {Promise<{ sent: number, late: number, seconds: number, classes: Record<string, Tally> }>}
 *     a status that was not the one in the file throws
 */
export async function load({ port, file, connections = 64, seconds, warmUp, rate, times, loop }) {
	const args = ['-c', connections];
	if (seconds) args.push('-s', seconds + (warmUp ?? 0));
	if (warmUp) args.push('-w', warmUp);
	if (rate) args.push('-r', rate);
	if (times) args.push('-t', times);
	if (loop) args.push('-l');
	return JSON.parse(await run([path.join(BIN, 'load'), ...args.map(String), String(port), file]));
}
