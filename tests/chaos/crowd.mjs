// A process that creates elicitations, waits for all of them, and tells how the waits ended.

import process from 'node:process';

import { UrlMode } from 'urlmode';

const AT_ONCE = 500;
const { CROWD_COUNT, CROWD_NAME } = process.env;
const urlmode = new UrlMode({
	databaseUrl: process.env.URLMODE_DATABASE_URL, keysFile: process.env.URLMODE_KEYS_FILE, baseUrl: process.env.URLMODE_BASE_URL,
});
process.removeAllListeners('warning');
process.on('warning', () => {});

const ends = { count: 0, reasons: {} };
const told = (reason) => {
	ends.count += 1;
	ends.reasons[reason] = (ends.reasons[reason] ?? 0) + 1;
};
let created = [];
for (let n = 0; n < Number(CROWD_COUNT); n += AT_ONCE) {
	const owners = Array.from({ length: Math.min(AT_ONCE, Number(CROWD_COUNT) - n) }, (_, i) => ({ subject: `${CROWD_NAME}-${n + i}` }));
	const some = await Promise.all(owners.map(async (owner) => {
		const { elicitationId: id } = await urlmode.create({ ...owner, provider: 'demo', kind: 'oauth', targetUrl: 'http://localhost:9/', ttl: 3_600_000 });
		urlmode.waitForCompletion(id, { ...owner, timeout: 3_600_000 }).then(({ reason }) => told(reason), ({ code, message }) => told(code ?? message));
		return { id, ...owner };
	}));
	created = [...created, ...some];
}
process.send({ created });
process.on('message', () => process.send({ ...ends, open: urlmode.openWaits }));
process.on('disconnect', () => process.exit(0));
