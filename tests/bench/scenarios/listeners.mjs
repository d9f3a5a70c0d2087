// Completions while others listen: every notifying transaction wakes each of
// them.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { BIN, FOLDER } from '../paths.mjs';
import { start, stop } from '../processes.mjs';
import { completions } from './completions.mjs';

/** @param {number} count listening connections */
export async function listeners(bed, count, options) {
	const log = path.join(FOLDER, 'listen.log');
	const child = start([path.join(BIN, 'listen'), String(count), 'urlmode'], { log, env: bed.stack.env });

	try {
		await until(async () => {
			const [{ there }] = await bed.sql(
				`SELECT count(*)::integer AS there FROM pg_stat_activity WHERE query = 'LISTEN urlmode'`);
			return there >= count;
		});
		return await completions(bed, 'urlmode', options);
	} finally {
		await stop(child);
	}
}

async function until(there) {
	for (let tries = 0; tries < 200; tries++) {
		if (await there()) return;
		await sleep(50);
	}
	throw new Error('the listeners are not there');
}
