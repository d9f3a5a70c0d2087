// Throughput among few rows and among many: ten thousand rows are completed
// at a time, alone in the table, or beside ten million older ones.

import path from 'node:path';

import { load } from '../load.mjs';
import { FOLDER } from '../paths.mjs';

const file = path.join(FOLDER, 'flat.requests');

/** What the rows before them have become; each in place of a user of its own. */
const OLDER = `
	INSERT INTO urlmode.elicitation
		(id, provider, kind, subject, binding, requester, target_url, result, status, action, expires_at, completed_at)
	SELECT gen_random_uuid(), 'demo', 'oauth', 'older-' || n, substr(sha256(n::text::bytea), 1, 16), 'Bench',
		'https://provider.example.com/authorize?' || repeat('x', 200), decode(repeat('a7', 180), 'hex'),
		'completed', 'accept', now(), now()
	FROM generate_series($1::integer, $2) n`;

const INDEXES = `
	SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
	FROM pg_index WHERE indrelid = 'urlmode.elicitation'::regclass AND NOT indisprimary`;

/** Adds the older rows, a million at a time. */
export async function addOlder(bed, count, say) {
	await bed.sql('TRUNCATE urlmode.elicitation CASCADE');
	// Indexes are quicker built at once than row by row.
	const indexes = await bed.sql(INDEXES);
	for (const { name } of indexes) await bed.sql(`DROP INDEX ${name}`);
	for (let from = 1; from <= count; from += 1_000_000) {
		await bed.sql(OLDER, [from, Math.min(count, from + 999_999)]);
		say(`${Math.min(count, from + 999_999)} rows`);
	}
	for (const { definition } of indexes) await bed.sql(definition);
	await bed.sql('VACUUM ANALYZE urlmode.elicitation');
	await bed.sql('CHECKPOINT');
}

/**
 * @param {{ rounds: number, size: number, keep: boolean }} options
 *     keep: what is in the table stays beside them
 */
export async function flat(bed, { rounds, size, keep }) {
	let count = 0;
	let seconds = 0;

	for (let round = 0; round < rounds; round++) {
		const range = { from: round * size, to: (round + 1) * size };
		await bed.writeReturns(file, range.from, range.to);
		await bed.fill('urlmode', { ...range, keep });
		const result = await load({ port: bed.port, file });
		count += result.sent;
		seconds += result.seconds;
		if (keep) await bed.forget(range);
	}
	return { rate: count / seconds };
}
