// A consumer of the ledger in a process of its own, which writes the number of each entry into a
// file, and dies at the one that it is told: after its work, before it asks for the next.

import { appendFileSync } from 'node:fs';
import process from 'node:process';

import { UrlMode } from '../../src/index.js';

const { databaseUrl, keysFile, baseUrl, consumer, effects, dieAt } = JSON.parse(process.argv[2]);
const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl });
let count = 0;
for await (const { number } of urlmode.ledger({ consumer })) {
	appendFileSync(effects, `${number}\n`);
	count += 1;
	if (count === dieAt) process.kill(process.pid, 'SIGKILL');
}
