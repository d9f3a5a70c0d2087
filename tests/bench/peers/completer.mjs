// Completes elicitations from beside, as the callback programs do it but
// without a browser: batches of urlmode.complete in arrays in binary form, with
// the outcomes to be announced, as many as there is room for by the numbers on
// its standard input, a line each. All of it is ready before it prints `ready`.
//
//   completer.mjs IDS TIMES

import { readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import pg from 'pg';

import { parseKeys } from '../../../lib/node/src/core/keys.js';
import { bindingOf, idBytes } from '../../../lib/node/src/core/token.js';
import { sealReturn } from '../sealed.mjs';

const BATCH = 64;
/** pg_type.oid */
const BYTEA = 17;
const TEXT = 25;
const UUID = 2950;

const [idsFile, timesFile] = process.argv.slice(2);
const keys = parseKeys(readFileSync(process.env.URLMODE_KEYS_FILE, 'latin1'), process.env.URLMODE_KEYS_FILE);
const rows = readFileSync(idsFile, 'utf8').trim().split('\n').map((line, n) => {
	const [id, subject] = line.split(' ');
	const binding = bindingOf(subject, '');
	return { id, binding, ...sealReturn(keys, { id, binding }, { code: `code-${n}`, iss: 'https://provider' }) };
});
const batches = Array.from({ length: Math.ceil(rows.length / BATCH) }, (_, n) => toBatch(rows.slice(n * BATCH, (n + 1) * BATCH)));
const times = new BigInt64Array(rows.length);

const client = new pg.Client({ connectionString: process.env.URLMODE_ADMIN_DATABASE_URL });
await client.connect();

let room = 0;
const lines = createInterface({ input: process.stdin });
lines.on('line', (more) => room += Number(more));
console.log('ready');

for (const [n, { size, values }] of batches.entries()) {
	while (room < size) await once(lines, 'line');
	room -= size;
	times.fill(process.hrtime.bigint(), n * BATCH, n * BATCH + size);
	const { rows: outcomes } = await client.query({
		name: 'complete', text: 'SELECT outcome FROM urlmode.complete($1, $2, $3, $4, $5, $6, outcomes => $7)', values, rowMode: 'array',
	});
	const other = outcomes.find(([outcome]) => outcome !== 'completed');
	if (other) throw new Error(`a completion was answered with ${other}`);
}
writeFileSync(timesFile, Buffer.from(times.buffer));
process.exit();

function toBatch(batch) {
	const text = (value) => toArray(TEXT, batch.map(() => Buffer.from(value)));
	return {
		size: batch.length,
		values: [
			toArray(UUID, batch.map(({ id }) => idBytes(id))), toArray(BYTEA, batch.map(({ binding }) => binding)), text('demo'),
			text('accept'), text(''), toArray(BYTEA, batch.map(({ result }) => result)),
			toArray(BYTEA, batch.map(({ outcome }) => outcome)),
		],
	};
}

/** An array of one dimension, as array_recv takes it. */
function toArray(type, values) {
	const int32s = (...numbers) => Buffer.concat(numbers.map((number) => Buffer.of(number >> 24, number >> 16, number >> 8, number)));
	return Buffer.concat([
		int32s(1, 0, type, values.length, 1), ...values.flatMap((value) => [int32s(value.length), value]),
	]);
}
