// urlmode check, as root types it on the machine.

import assert from 'node:assert/strict';

import { RELEASE } from '../support/command.mjs';

/** Its status, and what it has found. */
export async function check(machine) {
	const { status, out, err } = await machine.run('urlmode', 'check', '--json', '--server-keys', '/root/server-keys', '--today', RELEASE);
	assert.equal(err, '');
	return { status, findings: JSON.parse(out).findings };
}

export async function allWell(machine) {
	const { status, findings } = await check(machine);
	assert.deepEqual(findings.filter(({ severity }) => severity !== 'ok'), []);
	assert.equal(status, 0);
}

/** The first that is not ok, of this check. */
export function finding({ findings }, name) {
	const found = findings.find((each) => each.check === name && each.severity !== 'ok');
	assert.ok(found, `${name} finds nothing: ${JSON.stringify(findings.filter(({ severity }) => severity !== 'ok'))}`);
	return found;
}
