// ports.mjs PORT COUNT: prints PORT, when nothing listens there (0: a free
// one), and COUNT free loopback ports beside it.

import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the range from which Linux takes the ports of outgoing connections:
// what listens here can be restarted without finding its port taken.
const FIRST = 20_000;
const LAST = 32_767;

const [wanted, count] = process.argv.slice(2).map(Number);
const held = [];

async function hold(port) {
	const server = createServer().listen(port, '127.0.0.1');
	await once(server, 'listening');
	held.push(server);
}

async function holdFree() {
	for (;;) {
		try {
			return await hold(FIRST + Math.floor(Math.random() * (LAST - FIRST + 1)));
		} catch (error) {
			if (error.code !== 'EADDRINUSE') {
				throw error;
			}
		}
	}
}

try {
	if (!Number.isInteger(wanted) || wanted < 0 || wanted > 65_535) {
		throw new Error('PORT is not a port number');
	}
	await (wanted === 0 ? holdFree() : hold(wanted));
	for (let i = 0; i < count; i++) {
		await holdFree();
	}
	console.log(held.map((server) => server.address().port).join(' '));
} catch (error) {
	const reasons = {
		EADDRINUSE: `port ${wanted} is in use: choose another with PORT=`,
		EACCES: `port ${wanted} needs root: choose another with PORT=`,
	};
	console.error(`urlmode: ${reasons[error.code] ?? error.message}`);
	process.exitCode = 1;
} finally {
	held.forEach((server) => server.close());
}
