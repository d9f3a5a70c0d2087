// Completions through nginx into PostgreSQL at the highest possible rate: 64 connections, and
// another pending row for each request.

import { withListeners } from '../listeners.mjs';
import { load } from '../load.mjs';
import { withApiWaits } from './api.mjs';

// schema: its channel has the same name
const SIDES = {
	urlmode: { schema: 'urlmode', part: 1 },
	ceiling: { schema: 'urlmode', part: 1 },
	batched: { schema: 'bench', part: 1 },
	hono: { schema: 'bench', part: 0.4 },
};

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {'urlmode' | 'ceiling' | 'batched' | 'hono'} side
 * @param {{ seconds: number, warmUp: number, part?: number, listening?: number, throughApi?: number }} options
 *     part: of all elicitations, the rows in the table; listening: how many servers wait meanwhile; throughApi: how many do through the api
 */
export async function completions(bed, side, { seconds, warmUp, part = SIDES[side].part, listening = 1, throughApi = 0 }) {
	const { schema } = SIDES[side];
	const { port, requests } = side === 'urlmode' ? bed : bed.peer(side);

	await bed.fill(schema, { to: Math.floor(bed.elicitations.length * part) });
	const during = () => load({ port, file: requests ?? bed.returns, seconds, warmUp });
	const { sent, classes: { 0: tally } } = throughApi > 0
		? await withApiWaits(bed, throughApi, during)
		: await withListeners(bed, { count: listening, channel: schema }, during);
	const rows = await bed.completed(schema);
	if (rows !== sent) throw new Error(`${side}: ${sent} answers, but ${rows} rows are completed`);
	return tally;
}

/** The same requests to a program that does nothing but to give the same answer. */
export async function nothing(bed, options) {
	const { classes: { 0: tally } } = await load({ port: bed.peer('null').port, file: bed.returns, loop: true, ...options });
	return tally;
}
