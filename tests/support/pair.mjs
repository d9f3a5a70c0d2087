// lib/node/test/support/pair.js for tests in other languages. The first line that this prints has four URLs: of urlmode_cgi
// and urlmode_server at both, and of the administrator at each. Each line that it reads is a key of
// ANSWERS, and has one line as its answer. It ends, and both PostgreSQLs with it, when its standard input does.
//
//   node tests/support/pair.mjs

import { createInterface } from 'node:readline';

import { startPair } from '../../lib/node/test/support/pair.js';

const ANSWERS = {
	part: (pair) => pair.part().then(() => 'parted'),
	hung: (pair) => pair.hung(),
	// The old primary.
	stop: (pair) => pair.primary.stop('immediate').then(() => 'stopped'),
	start: (pair) => pair.primary.start().then(() => 'started'),
};

/** @type {(() => unknown)[]} */
const ends = [];
try {
	const pair = await startPair({ after: (end) => ends.push(end) });
	console.log(['cgi', 'server'].map((role) => pair.urlOf(`urlmode_${role}`)).concat(pair.primary.adminUrl, pair.standby.adminUrl).join(' '));
	for await (const line of createInterface({ input: process.stdin })) {
		console.log(await ANSWERS[line](pair));
	}
} finally {
	for (const end of ends) await end();
}
