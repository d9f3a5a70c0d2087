// A provider's certificate that expires soon, and one that has expired: --check, the
// log, the metrics and the answers to its deliveries say so.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { ROOT } from '../stack/harness.mjs';
import { DAY, signAgain } from '../support/certificates.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

let fixture;
let paypal;

before(async () => {
	fixture = await openFixture({ name: 'certificates', own: true });
	paypal = sender(fixture, 'paypal');
});

after(() => fixture?.close());

/** Gives PayPal's certificate another end, and starts the programs again. */
async function endsAt(end) {
	signAgain(fixture.stack.runDir, end);
	await fixture.stack.service('restart', 'webhook');
	await fixture.stack.service('restart', 'status');
}

const notices = async () => (await fixture.stack.programLog()).map(({ notice }) => notice).filter((text) => text?.startsWith('provider paypal: '));

const check = () => {
	const { status, stderr } = spawnSync(path.join(process.env.PROGRAM_DIR ?? path.join(ROOT, 'build/bin'), 'webhook'), ['--check'],
		{ env: { URLMODE_CONFIG: fixture.stack.env.URLMODE_CONFIG }, encoding: 'utf8' });
	return { status, stderr };
};

const deliver = async () => {
	const { id } = await fixture.createPayment('paypal');
	return paypal.send(paypal.event(id, 'paid'));
};

test('one that is good for longer is not mentioned', async () => {
	assert.deepEqual(check(), { status: 0, stderr: '' });
	assert.deepEqual(await notices(), []);
});

test('one that expires within two weeks is said by --check, the log and the metrics, and still verifies', async () => {
	const end = new Date(Math.floor(Date.now() / 1000) * 1000 + 13 * DAY);
	const said = `provider paypal: the certificate for its signatures expires on ${end.toISOString().slice(0, 10)}: ${
		"add the provider's new one to the file, and start the programs again"}`;
	await endsAt(end);
	assert.deepEqual(check(), { status: 0, stderr: `urlmode webhook: ${said}\n` });
	await until('the log says it, once', async () => (await notices()).length > 0);
	assert.deepEqual(await notices(), [said]);
	const { body } = await request(fixture.url('/metrics'));
	assert.match(body, new RegExp(`^urlmode_certificate_expiry_timestamp_seconds\\{provider="paypal"\\} ${end.getTime() / 1000}$`, 'm'));
	assert.equal((await deliver()).status, 200);
});

test('one that has expired is said, too, and its deliveries are not called forged', async () => {
	const end = new Date(Date.now() - DAY);
	await endsAt(end);
	const { status, stderr } = check();
	assert.equal(status, 1);
	assert.match(stderr, new RegExp(`^urlmode webhook: provider paypal: .* expired on ${end.toISOString().slice(0, 10)}: `));
	await until('the log says it', async () => (await notices()).some((text) => text.includes(' expired on ')));
	const answer = await deliver();
	assert.equal(answer.status, 401);
	const line = await until('it is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request: id }) => id === answer.headers['x-request-id'])));
	assert.deepEqual([line.reason, line.detail], ['certificate_expired', '/verify: the certificate is not valid now']);
});
