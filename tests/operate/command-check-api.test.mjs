// urlmode check where the api is set up: it walks it with a key that is gone afterwards, and
// each thing that is broken has a finding with its cause and what to do.

import assert from 'node:assert/strict';
import { chmod, chown, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { test } from 'node:test';

import { IS_ROOT, changeFile, changeMode, check, checkedStack, finds, findsAll, inStack, report, reportOf, stack, undo, unit, well } from '../support/checked-stack.mjs';
import { freePorts } from '../stack/harness.mjs';
import { until } from '../support/wait.mjs';

checkedStack('operate-command-walk-of-the-api', async () => {
	if (!IS_ROOT) return;
	const { gid } = await stack.user();
	for (const name of ['api.json', 'api-keys']) {
		await chown(inStack(name), 0, gid);
		await chmod(inStack(name), 0o640);
	}
}, { API: '1' });

const URL_OPTION = () => ['--api-url', stack.env.URLMODE_API_URL];
/** The finding of the walk, and that its key is gone. */
async function walked(severity, message, more) {
	const said = await check(['--json', '--only', 'api', ...URL_OPTION()], more);
	const findings = JSON.parse(said.out).findings.filter((finding) => finding.check === 'api');
	assert.deepEqual(findings.map((finding) => finding.severity), [severity], said.out);
	assert.match(findings[0].message, message);
	assert.equal(severity === 'ok', findings[0].advice === '');
	assert.doesNotMatch(await readFile(inStack('api-keys'), 'utf8'), /urlmode-check/);
	assert.doesNotMatch(said.out + said.err, /umk_/);
	return findings[0];
}
const rows = () => stack.sql("SELECT provider, tenant, status, action FROM urlmode.elicitation WHERE tenant = 'urlmode-check'");

test('all is well: one elicitation of a tenant of its own is created, shown and ended, and it and its key are gone', async () => {
	const keys = await readFile(inStack('api-keys'), 'utf8');
	await walked('ok', /^it creates, shows and ends an elicitation, at http:/);
	assert.deepEqual(await rows(), []);
	// A check that was killed has left its key.
	await changeFile(inStack('api-keys'), (text) => `${text}urlmode-check urlmode-check ${'ab'.repeat(32)}\n`);
	await walked('ok', /^it creates/);
	undo.splice(0);
	assert.equal(await readFile(inStack('api-keys'), 'utf8'), keys);
	assert.equal((await report({})).status, 'ok', 'what else is looked at');
});

test('a link to the file of the keys stays one', async () => {
	await mkdir(inStack('elsewhere'));
	await rename(inStack('api-keys'), inStack('elsewhere/api-keys'));
	await symlink('elsewhere/api-keys', inStack('api-keys'));
	undo.push(async () => {
		await rename(inStack('elsewhere/api-keys'), inStack('api-keys'));
		await rm(inStack('elsewhere'), { recursive: true });
	});
	await walked('ok', /^it creates/);
	assert.equal(await readlink(inStack('api-keys')), 'elsewhere/api-keys');
});

test('where it listens comes from its site of nginx', async () => {
	const { out } = await check(['--json', '--only', 'api']);
	const [finding] = JSON.parse(out).findings.filter((each) => each.check === 'api');
	assert.deepEqual([finding.severity, /urlmode-api\.conf/.test(finding.message)], ['skipped', true]);
	const { port } = new URL(stack.env.URLMODE_API_URL);
	await mkdir(inStack('conf.d'));
	undo.push(() => rm(inStack('conf.d'), { recursive: true }));
	for (const listen of [`127.0.0.1:${port}`, port, `127.0.0.1:${port} reuseport`]) {
		await writeFile(inStack('conf.d/urlmode-api.conf'), `server {\n\t# listen 1;\n\tlisten ${listen};\n}\n`);
		assert.deepEqual(well(await reportOf(['api']), 'api').length, 1, listen);
	}
});

test('what is broken, each with its cause', async () => {
	const { gid } = await stack.user();
	await stack.service('stop', 'api');
	undo.push(() => stack.service('start', 'api'));
	await walked('error', /^create of the api: nginx gets no answer from the program$/);
	await stack.service('start', 'api');

	const [closed] = await freePorts(1);
	const nobody = await check(['--json', '--only', 'api', '--api-url', `http://127.0.0.1:${closed}`]);
	assert.match(nobody.out, /nothing answers at http:\/\/127\.0\.0\.1:\d+: curl/);
	const other = await check(['--json', '--only', 'api', '--api-url', stack.baseUrl]);
	assert.match(other.out, /"create of the api: what answers at http:\S+ with 404 is not the api"/);

	// The program reads another file.
	const config = JSON.parse(await readFile(inStack('api.json'), 'utf8'));
	await writeFile(inStack('api-other.json'), JSON.stringify({ ...config, api_keys_file: 'other-keys' }), { mode: 0o640 });
	if (IS_ROOT) await chown(inStack('api-other.json'), 0, gid);
	await walked('error', /^create of the api: the program does not know the key that was added to \S+other-keys$/, { URLMODE_API_CONFIG: inStack('api-other.json') });

	await stack.service('stop', 'postgres');
	undo.push(() => stack.service('start', 'postgres'));
	await walked('error', /^create of the api: its database does not answer the program, or refuses what it asks$/);
	await stack.service('start', 'postgres');
});

test('a function that is missing is the failure of its step', async () => {
	const refuses = 'its database does not answer the program, or refuses what it asks';
	for (const [name, step, why] of [['create_elicitation', 'create', refuses], ['read_waiting', 'wait', refuses], ['settle', 'cancel', refuses]]) {
		await stack.sql(`REVOKE EXECUTE ON FUNCTION urlmode.${name} FROM urlmode_server`);
		undo.push(() => stack.sql(`GRANT EXECUTE ON FUNCTION urlmode.${name} TO urlmode_server`));
		await walked('error', new RegExp(`^${step} of the api: ${why}$`));
		await undo.pop()();
		// After a refusal the program connects again.
		await until('it works', () => walked('ok', /./).then(() => true, () => false));
	}
});

test('its files', async () => {
	await changeFile(inStack('api-keys'), (text) => `${text}broken\n`);
	await finds('api', 'error', /api-keys:2: the tenant is not/);
	await undo.pop()();
	await changeMode(inStack('api-keys'), 0o644);
	await findsAll([['permissions', 'error', /api-keys has mode 644: every user has a right on it/]], {}, ['api']);
	await undo.pop()();
	await changeFile(inStack('api.json'), (text) => text.replace('{', '{"colour": 1, '));
	await finds('api', 'error', /\/colour/);
	await undo.pop()();
	const other = inStack('api-keys-copy');
	await writeFile(other, `1 ${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o640 });
	if (IS_ROOT) await chown(other, 0, (await stack.user()).gid);
	await changeFile(inStack('api.json'), (text) => text.replace('"keys_file": "keys"', '"keys_file": "api-keys-copy"'));
	await finds('api', 'error', /api-keys-copy and \S+ have different keys/);
});

test('its unit', async () => {
	await unit('urlmode-api.service', { ActiveState: 'failed', SubState: 'failed' });
	const { findings } = JSON.parse((await check(['--json', '--only', 'api', ...URL_OPTION()])).out);
	assert.ok(findings.some(({ check: name, message }) => name === 'units' && /^urlmode-api\.service has failed: /.test(message)));
});
