// The waiting side: promises of one Node process with many open waits,
// resolved with their results opened.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { FOLDER } from '../paths.mjs';
import { run } from '../processes.mjs';

const PROGRAM = fileURLToPath(new URL('../peers/waiting.mjs', import.meta.url));
const file = (name) => path.join(FOLDER, `waiting.${name}`);

/** @param {{ count: number, open: number }} options open: waits at a time */
export async function waiting(bed, { count, open }) {
	const elicitations = bed.elicitations.slice(0, count);

	await bed.fill('urlmode', { to: count });
	writeFileSync(file('ids'), elicitations.map(({ id, subject }) => `${id} ${subject}\n`).join(''));
	return JSON.parse(await run([process.execPath, PROGRAM, file('ids'), file('times'), String(open)],
		{ env: bed.stack.env }));
}
