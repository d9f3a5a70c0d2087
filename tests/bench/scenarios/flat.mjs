// Throughput among few rows and among many: ten thousand rows are completed
// at a time, alone in the table, or beside ten million older ones. Two tables
// take each other's place for that, in turn: filling one takes minutes, in
// which the machine changes.

import path from 'node:path';

import { load } from '../load.mjs';
import { FOLDER } from '../paths.mjs';

const file = path.join(FOLDER, 'flat.requests');

/** What the rows before them have become; each in place of a user of its own. */
const OLDER = `
	INSERT INTO urlmode.older
		(id, provider, kind, subject, binding, requester, target_url, result, status, action, expires_at, completed_at)
	SELECT gen_random_uuid(), 'demo', 'oauth', 'older-' || n, substr(sha256(n::text::bytea), 1, 16), 'Bench',
		'https://provider.example.com/authorize?' || repeat('x', 200), decode(repeat('a7', 180), 'hex'),
		'completed', 'accept', now(), now()
	FROM generate_series($1::integer, $2) n`;

const OPTIONS = `
	SELECT array_to_string(reloptions, ', ') AS options FROM pg_class WHERE oid = 'urlmode.elicitation'::regclass`;
const INDEXES = `
	SELECT pg_get_indexdef(indexrelid) AS definition
	FROM pg_index WHERE indrelid = 'urlmode.elicitation'::regclass AND NOT indisprimary`;

const SWAP = `
	ALTER TABLE urlmode.elicitation RENAME TO swapped;
	ALTER TABLE urlmode.older RENAME TO elicitation;
	ALTER TABLE urlmode.swapped RENAME TO older`;

/** A table like the elicitations' beside it, filled with older rows, a million at a time. */
export async function addOlder(bed, count, say) {
	const [{ options }] = await bed.sql(OPTIONS);
	const indexes = await bed.sql(INDEXES);

	await bed.sql(`
		CREATE TABLE urlmode.older (LIKE urlmode.elicitation INCLUDING ALL EXCLUDING INDEXES) WITH (${options});
		ALTER TABLE urlmode.older OWNER TO urlmode_owner`);
	for (let from = 1; from <= count; from += 1_000_000) {
		await bed.sql(OLDER, [from, Math.min(count, from + 999_999)]);
		say(`${Math.min(count, from + 999_999)} rows`);
	}
	// Indexes are quicker built at once than row by row.
	await bed.sql('ALTER TABLE urlmode.older ADD PRIMARY KEY (id)');
	for (const { definition } of indexes) {
		await bed.sql(definition.replace(/ \S+ ON urlmode\.elicitation /, ' ON urlmode.older '));
	}
	// Each update looks whether a foreign key points here, as that of the events does.
	await bed.sql('CREATE TABLE urlmode.older_event (elicitation uuid REFERENCES urlmode.older ON DELETE CASCADE)');
	await bed.sql('VACUUM ANALYZE urlmode.older');
	await bed.sql('CHECKPOINT');
}

/** @param {{ rounds: number, size: number }} options */
export function few(bed, options) {
	return flat(bed, { ...options, keep: false });
}

/** @param {{ rounds: number, size: number }} options */
export async function many(bed, options) {
	await bed.sql(SWAP);
	try {
		return await flat(bed, { ...options, keep: true });
	} finally {
		await bed.sql(SWAP);
	}
}

/**
 * @param {{ rounds: number, size: number, keep: boolean }} options
 *     keep: what is in the table stays beside them
 */
async function flat(bed, { rounds, size, keep }) {
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
