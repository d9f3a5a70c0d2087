// One call that acts on an accept under a claim, in a process of its own, which
// dies at the step that it is told. Its work is a line in a file.

import { appendFileSync } from 'node:fs';
import process from 'node:process';

import { UrlMode } from '../../src/index.js';

const { databaseUrl, keysFile, baseUrl, id, owner, reference, effects, dieAt } = JSON.parse(process.argv[2]);
const at = (step) => {
	if (step === dieAt) process.kill(process.pid, 'SIGKILL');
};

const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl });
at('before it begins');
const claim = await urlmode.beginClaim(id, { ...owner, reference, lease: 1_000, timeout: 60_000 });
at('when it has begun');
let { result } = claim;
if (claim.state === 'begun') {
	appendFileSync(effects, `${claim.reference}\n`);
	at('when its work is done');
	result = { by: process.pid };
	await claim.fulfil(result);
}
at('when it is fulfilled');
await claim.confirm?.();
at('when it is confirmed');
process.stdout.write(JSON.stringify({ state: claim.state, result: result ?? null }));
await urlmode.close();
