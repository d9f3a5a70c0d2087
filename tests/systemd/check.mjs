// urlmode check, as root types it on the machine.

import assert from 'node:assert/strict';

import { RELEASE } from '../support/command.mjs';

/** Its status, and what it has found of the deployment, by default of the one without a name. */
export async function check(machine, deployment) {
	const [of, copy] = deployment ? [['--deployment', deployment], `-${deployment}`] : [[], ''];
	const { status, out, err } = await machine.run('urlmode', ...of, 'check', '--json', '--server-keys', `/root/server-keys${copy}`, '--today', RELEASE);
	assert.equal(err, '');
	return { status, findings: JSON.parse(out).findings };
}

export async function allWell(machine, deployment) {
	const { status, findings } = await check(machine, deployment);
	assert.deepEqual(findings.filter(({ severity }) => severity !== 'ok'), []);
	assert.equal(status, 0);
}

/** The first that is not ok, of this check. */
export function finding({ findings }, name) {
	const found = findings.find((each) => each.check === name && each.severity !== 'ok');
	assert.ok(found, `${name} finds nothing: ${JSON.stringify(findings.filter(({ severity }) => severity !== 'ok'))}`);
	return found;
}
