// Connections that listen during a measurement, as MCP servers do: every notifying transaction
// wakes each of them.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { BIN, FOLDER } from './paths.mjs';
import { start, stop } from './processes.mjs';

/**
 * @template T
 * @param {import('./bed.mjs').Bed} bed
 * @param {{ count: number, channel: string }} listeners
 * @param {() => Promise<T>} what
 */
export async function withListeners(bed, { count, channel }, what) {
	if (count === 0) return what();
	const log = path.join(FOLDER, 'listen.log');
	const child = start([path.join(BIN, 'listen'), String(count), channel], { log, env: bed.stack.env });

	try {
		for (let tries = 0; readFileSync(log, 'utf8') !== 'ready\n'; tries++) {
			if (tries === 200) throw new Error(`the listeners are not there: ${log}`);
			await sleep(50);
		}
		return await what();
	} finally {
		await stop(child);
	}
}
