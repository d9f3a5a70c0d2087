// One process that keeps many waits open: each one resolved makes room for
// the next, and for one more completion. Prints how fast, as JSON.
//
//   waiting.mjs IDS TIMES OPEN

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import { UrlMode } from '../../../lib/node/src/index.js';
import { quantiles } from '../statistics.mjs';

const [idsFile, timesFile, open] = process.argv.slice(2);
const elicitations = readFileSync(idsFile, 'utf8').trim().split('\n').map((line) => {
	const [id, subject] = line.split(' ');
	return { id, subject };
});
const OPEN = Number(open);
// What is completed but not resolved yet: it measures the waiting side, not
// how long a queue can get.
const AHEAD = 512;
const TOLD_EVERY = 64;

const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl } = process.env;
const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl, name: 'Bench' });
const completer = fork(new URL('completer.mjs', import.meta.url), [idsFile, timesFile]);
completer.on('exit', (status) => status && process.exit(status));
await once(completer, 'message');

const resolved = new BigInt64Array(elicitations.length);
let begun = 0;
let over = 0;
const all = Promise.withResolvers?.() ?? deferred();

function begin() {
	const n = begun++;
	const { id, subject } = elicitations[n];
	urlmode.waitForCompletion(id, { subject, timeout: 600_000 }).then(({ result }) => {
		if (result.code !== `code-${n}`) throw new Error(`${id}: the result of another`);
		resolved[n] = process.hrtime.bigint();
		if (begun < elicitations.length) begin();
		if (++over % TOLD_EVERY === 0 && over + AHEAD < elicitations.length + TOLD_EVERY) completer.send(TOLD_EVERY);
		if (over === elicitations.length) all.resolve();
	}).catch(all.reject);
}

function deferred() {
	const it = {};
	it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }));
	return it;
}

while (begun < OPEN) begin();
setTimeout(() => completer.send(AHEAD), 1_500);
await all.promise;
if (completer.exitCode === null) await once(completer, 'exit');
await urlmode.close();

const bytes = readFileSync(timesFile);
const sent = new BigInt64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const took = [...resolved].map((at, n) => Number(at - sent[n]) / 1e6);
const [first] = sent;
const last = resolved.reduce((a, b) => a > b ? a : b);
console.log(JSON.stringify({ rate: elicitations.length / (Number(last - first) / 1e9), ...quantiles(took) }));
