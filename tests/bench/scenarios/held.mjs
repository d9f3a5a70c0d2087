// Completions at a low rate while another session holds rows of others, whose browsers come back again and again: each
// of these is told after three seconds that the database is not available.

import path from 'node:path';

import pg from 'pg';

import { load } from '../load.mjs';
import { FOLDER } from '../paths.mjs';
import { returnRequest, writeRequests } from '../requests.mjs';

const file = (name) => path.join(FOLDER, `held.${name}`);

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {{ rate: number, count: number, rows: number }} options rows: how many are held
 * @returns {Promise<object>} of those whose rows nobody holds
 */
export async function held(bed, { rate, count, rows }) {
	await bed.fill('urlmode', { to: count + rows });
	await bed.writeReturns(file('others'), 0, count);
	const others = () => load({ port: bed.port, file: file('others'), rate });
	if (rows === 0) return (await others()).classes[0];

	const elicitations = bed.elicitations.slice(count, count + rows);
	await writeRequests(file('held'), elicitations.map((each) => ({ status: 503, request: returnRequest(bed.deployment, each) })));
	const session = new pg.Client({ connectionString: bed.stack.env.URLMODE_ADMIN_DATABASE_URL });
	await session.connect();
	try {
		await session.query('BEGIN');
		await session.query('SELECT FROM urlmode.elicitation WHERE id = ANY ($1) FOR UPDATE', [elicitations.map(({ id }) => id)]);
		const [{ classes }] = await Promise.all([
			others(), load({ port: bed.port, file: file('held'), connections: rows, seconds: count / rate, loop: true })]);
		return classes[0];
	} finally {
		await session.end();
	}
}
