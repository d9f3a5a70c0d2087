// Completions through nginx into PostgreSQL, as fast as it goes: 64
// connections, a distinct pending row for each request.

import { load } from '../load.mjs';

const SIDES = {
	urlmode: { schema: 'urlmode', part: 1 },
	batched: { schema: 'bench', part: 1 },
	hono: { schema: 'bench', part: 0.4 },
};

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {'urlmode' | 'batched' | 'hono'} side
 * @param {{ seconds: number, warmUp: number, part?: number }} options part: of all elicitations, the rows in the table
 */
export async function completions(bed, side, { seconds, warmUp, part = SIDES[side].part }) {
	const { schema } = SIDES[side];

	await bed.fill(schema, { to: Math.floor(bed.elicitations.length * part) });
	return measure(bed, side, schema, { seconds, warmUp });
}

async function measure(bed, side, schema, options) {
	const port = side === 'urlmode' ? bed.port : bed.peer(side).port;
	const { sent, classes: { 0: tally } } = await load({ port, file: bed.returns, ...options });
	const rows = await bed.completed(schema);

	if (rows !== sent) throw new Error(`${side}: ${sent} answers, but ${rows} rows are completed`);
	return tally;
}

/** The same requests to a program that does nothing but to give the same answer. */
export async function nothing(bed, options) {
	const { classes: { 0: tally } } = await load({ port: bed.peer('null').port, file: bed.returns, loop: true, ...options });
	return tally;
}
