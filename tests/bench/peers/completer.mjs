// Completes elicitations from beside, as the callback programs do it but
// without a browser: batches of urlmode.complete, with the outcomes to be
// announced, as many as the parent says that there is room for.
//
//   completer.mjs IDS TIMES

import { readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';

import pg from 'pg';

import { parseKeys } from '../../../lib/node/src/keys.js';
import { bindingOf } from '../../../lib/node/src/token.js';
import { sealReturn } from '../sealed.mjs';

const BATCH = 64;

const [idsFile, timesFile] = process.argv.slice(2);
const keys = parseKeys(readFileSync(process.env.URLMODE_KEYS_FILE, 'latin1'), process.env.URLMODE_KEYS_FILE);
const rows = readFileSync(idsFile, 'utf8').trim().split('\n').map((line, n) => {
	const [id, subject] = line.split(' ');
	const binding = bindingOf(subject, '');
	return { id, binding, ...sealReturn(keys, { id, binding }, { code: `code-${n}`, iss: 'https://provider' }) };
});
const times = new BigInt64Array(rows.length);

const client = new pg.Client({ connectionString: process.env.URLMODE_ADMIN_DATABASE_URL });
await client.connect();

let room = 0;
process.on('message', (more) => room += more);
process.on('disconnect', () => process.exit());
process.send('ready');

for (let from = 0; from < rows.length; from += BATCH) {
	const batch = rows.slice(from, from + BATCH);
	while (room < batch.length) await once(process, 'message');
	room -= batch.length;
	times.fill(process.hrtime.bigint(), from, from + batch.length);
	const { rows: outcomes } = await client.query({
		name: 'complete',
		text: 'SELECT outcome FROM urlmode.complete($1, $2, $3, $4, $5, $6, outcomes => $7)',
		values: [
			batch.map(({ id }) => id), batch.map(({ binding }) => binding), batch.map(() => 'demo'),
			batch.map(() => 'accept'), batch.map(() => ''), batch.map(({ result }) => result),
			batch.map(({ outcome }) => outcome),
		],
	});
	const other = outcomes.find(({ outcome }) => outcome !== 'completed');
	if (other) throw new Error(`a completion was answered with ${other.outcome}`);
}
writeFileSync(timesFile, Buffer.from(times.buffer));
process.disconnect();
