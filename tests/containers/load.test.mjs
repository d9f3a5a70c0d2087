// Pods of the image under load and over time (load-walk.mjs), in a root that mmdebstrap
// makes. Needs a stack's environment and root: `make containers` gives both. AWAY is for
// how many seconds the database is away.

import { test } from 'node:test';

import { walkInRoot } from '../install/containerfile.mjs';

test('pods with the memory of the chart, under load and over time', async () => {
	console.log(await walkInRoot(new URL('load-walk.mjs', import.meta.url), { AWAY: process.env.AWAY ?? '60' }));
});
