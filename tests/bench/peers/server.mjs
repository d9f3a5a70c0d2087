// One MCP server with so many calls at once, each of which asks for an
// elicitation after another. Prints how fast, as JSON.
//
//   server.mjs urlmode|api|plain IDS AT_ONCE SECONDS WARM_UP [PORT REQUESTS]
//
// Without PORT and REQUESTS a call only creates. With them it also has a
// browser come back, and waits for its outcome.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { quantiles } from '../statistics.mjs';
import { openSide } from './sides.mjs';

const [mode, idsFile, atOnce, seconds, warmUp, port, requests] = process.argv.slice(2);
const elicitations = readFileSync(idsFile, 'utf8').trim().split('\n').map((line) => {
	const [id, subject] = line.split(' ');
	return { id, subject };
});
const side = await openSide(mode);
const browsers = port && spawn(process.execPath,
	[fileURLToPath(new URL('browsers.mjs', import.meta.url)), port, requests, atOnce], { stdio: ['pipe', 'ignore', 'inherit'] });
browsers?.on('exit', (status) => status && process.exit(status));

const took = [];
const start = performance.now() + Number(warmUp) * 1_000;
const end = start + Number(seconds) * 1_000;
let begun = 0;

/** From the call to its link, or to its outcome. */
async function elicit(n) {
	const elicitation = elicitations[n];
	if (!browsers) return side.create(elicitation);
	await side.create(elicitation);
	const outcome = side.wait(elicitation);
	comeBack(n);
	return outcome;
}

/** What is told in one turn of the event loop is written once. */
function comeBack(n) {
	if (browsers.stdin.writableCorked === 0) {
		browsers.stdin.cork();
		setImmediate(() => browsers.stdin.uncork());
	}
	browsers.stdin.write(`${n}\n`);
}

async function call() {
	while (performance.now() < end) {
		if (begun === elicitations.length) throw new Error('there are too few elicitations');
		const began = performance.now();
		await elicit(begun++);
		const ended = performance.now();
		if (began >= start && ended < end) took.push(ended - began);
	}
}

await Promise.all(Array.from({ length: Number(atOnce) }, call));
browsers?.stdin.end();
await side.close();
console.log(JSON.stringify({ rate: took.length / Number(seconds), done: begun, ...quantiles(took) }));
