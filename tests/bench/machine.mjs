// Describes the machine on which the figures were measured.

import { readFileSync } from 'node:fs';
import os from 'node:os';

import { run } from './processes.mjs';

/** Words of its own rather than a host's name. */
export async function describe(bed) {
	const cpus = os.cpus();
	const [{ version }] = await bed.sql(`SELECT current_setting('server_version') AS version`);
	const settings = await bed.sql(`SELECT name, current_setting(name) AS value FROM pg_settings
		WHERE name IN ('fsync', 'synchronous_commit', 'wal_sync_method', 'shared_buffers', 'full_page_writes') ORDER BY name`);
	return {
		processor: `${cpus.length} × ${cpus[0].model.trim()}`,
		memory: `${Math.round(os.totalmem() / 2 ** 30)} GB`,
		system: `${release()}, Linux ${os.release()}`,
		node: process.version,
		nginx: (await run(['sh', '-c', 'nginx -v 2>&1'])).trim().replace('nginx version: ', ''),
		postgresql: `${version.split(' ')[0]} (${settings.map(({ name, value }) => `${name} ${value}`).join(', ')})`,
		fsync: `${(await fsyncMs(bed)).toFixed(3)} ms`,
		date: new Date().toISOString().slice(0, 10),
	};
}

function release() {
	const [, name] = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [, 'Linux'];
	return name;
}

/** What one durable commit takes, alone: the median of a hundred. */
async function fsyncMs(bed) {
	const took = [];
	await bed.sql('CREATE TABLE IF NOT EXISTS bench.tick (n integer)');
	for (let n = 0; n < 100; n++) {
		const began = performance.now();
		await bed.sql('INSERT INTO bench.tick VALUES (1)');
		took.push(performance.now() - began);
	}
	return took.sort((a, b) => a - b)[50];
}
