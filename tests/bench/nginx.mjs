// How much processor time nginx takes for a request, with the configuration as it
// is shipped and without parts of it. Its workers' time is measured while the null
// responder answers.
//
//     make bench-build && node tests/bench/nginx.mjs

import path from 'node:path';

import { cpuMsOf, processes } from '../support/processes.mjs';
import { Bed } from './bed.mjs';
import { load } from './load.mjs';
import { FOLDER } from './paths.mjs';
import { startNginx } from './peers/nginx.mjs';
import { freePorts, stop } from './processes.mjs';
import { median } from './statistics.mjs';

const ROUNDS = 3;
const SECONDS = 2;

const without = (pattern) => (text) => text.replaceAll(pattern, '');

const CONFIGURATIONS = {
	'as shipped': (text) => text,
	'without access log': (text) => text.replace(/access_log [^;]+;/, 'access_log off;'),
	'access log in blocks': (text) => text.replace(/(access_log [^;]+);/, '$1 buffer=64k flush=1s;'),
	'without limit_req': without(/^\s*limit_req zone[^;]*;$/gm),
	'without Strict-Transport-Security': without(/^add_header Strict-Transport-Security[^;]*;$/gm),
	'without the parameters for languages and prefetching': without(/^fastcgi_param HTTP_(ACCEPT|SEC|PURPOSE|X)[^;]*;$/gm),
	'a connection for each request': without(/^\s*(keepalive 64|fastcgi_keep_conn on);$/gm),
	'nothing but fastcgi_pass and the parameters': (text, file) => file === 'server.conf'
		? 'set $urlmode_user ""; location / { include urlmode/fastcgi.conf; fastcgi_pass urlmode_oauth_return; }'
		: text.replace(/access_log [^;]+;/, 'access_log off;'),
};

/** Processor time of the workers of a master, in microseconds. */
async function used({ pid: master }) {
	const workers = (await processes()).filter(({ parent }) => parent === master);
	const times = await Promise.all(workers.map(({ pid }) => cpuMsOf(pid)));
	return times.reduce((sum, ms) => sum + ms * 1_000, 0);
}

async function measure(bed, edit) {
	const [port] = await freePorts(1);
	const nginx = await startNginx(path.join(FOLDER, 'nginx'), { port, upstream: `unix:${bed.peer('null').socket}`, edit });
	try {
		await load({ port, file: bed.returns, seconds: 0.3, loop: true });
		const before = await used(nginx);
		const { sent } = await load({ port, file: bed.returns, seconds: SECONDS, loop: true });
		return (await used(nginx) - before) / sent;
	} finally {
		await stop(nginx);
	}
}

const bed = await Bed.open(1_000);
const took = Object.fromEntries(Object.keys(CONFIGURATIONS).map((name) => [name, []]));
try {
	for (let round = 0; round < ROUNDS; round++) {
		for (const [name, edit] of Object.entries(CONFIGURATIONS)) took[name].push(await measure(bed, edit));
	}
} finally {
	await bed.close();
}
for (const [name, times] of Object.entries(took)) {
	console.log(`${median(times).toFixed(1).padStart(6)} µs  ${name}`);
}
process.exit();
