// urlmode check on a stack with TLS: nothing is wrong with it at first, and then one thing after the other.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, cp, mkdir, readFile, readdir, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { uptime } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import pg from 'pg';

import {
	IS_ROOT, changeConfig, changeFile, changeMode, check, checkedStack, env, finds, findsAll, findsInWhole, inStack, own, report, reportOf, serverKeys, sql, stack, undo, unit, well,
} from '../support/checked-stack.mjs';
import { asUser, RELEASE, urlmode } from '../support/command.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { configure } from '../security/deployment.mjs';
import { freePorts } from '../stack/harness.mjs';
import { DAY, signAgain } from '../support/certificates.mjs';
import { until } from '../support/wait.mjs';

const ALL = ['programs', 'signatures', 'descriptions', 'approvals', 'configuration', 'permissions', 'keys', 'server_keys', 'issuer_keys', 'database', 'role', 'clock', 'migrations', 'schema', 'storage', 'deliveries', 'units', 'sockets',
	'nginx', 'snippets', 'local', 'answers', 'sign_in', 'loaded', 'walk', 'webhook', 'certificate', 'outside', 'issuer', 'api', 'console'];

checkedStack('operate-command-check');

test('nothing is wrong: each check says so, and the status is 0; it changes nothing, and shows no secret', async () => {
	// But what the programs write whether anybody checks them or not: logs, bodies and counters.
	const files = async () => Promise.all((await readdir(stack.runDir)).filter((name) => !/^(log|tmp|metrics\..*)$/.test(name))
		.map(async (name) => [name, (await stat(inStack(name))).mtimeMs]));
	const kept = await files();
	const said = await report();
	const { findings, status, skipped } = said;
	assert.deepEqual(findings.map((finding) => [finding.check, finding.severity]), ALL.map((name) => [name, 'ok']));
	assert.deepEqual([status, skipped], ['ok', 0]);
	const { status: exit, out } = await urlmode(['check', ...asUser(), '--nginx', '.', '--sockets', 'sock', '--server-keys', 'server-keys', '--today', RELEASE],
		env({ URLMODE_CONFIG: 'config.json', URLMODE_KEYS_FILE: '' }), undefined, stack.runDir);
	assert.equal(exit, 0, out);
	assert.match(out, /^ok +outside +https:\/\/localhost:\d+ leads to this host: its log has the request$/m);
	assert.match(out, /^0 errors, 0 warnings, 0 skipped\n$/m);

	assert.deepEqual(await files(), kept);
	const config = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));
	const secrets = [/:([^:@]+)@/.exec(config.database_url)[1], /:([^:@]+)@/.exec(stack.env.URLMODE_OPERATOR_DATABASE_URL)[1],
		/^1 (\S+)/.exec(await readFile(serverKeys, 'utf8'))[1]];
	for (const secret of secrets) {
		assert.ok(!JSON.stringify(said).includes(secret) && !out.includes(secret));
	}
});

test('--only: the checks that are named, with what they need; no other name, and no numbers for /metrics', async () => {
	const { findings, status } = await reportOf(['role', 'server_keys']);
	assert.deepEqual([findings.map((finding) => finding.check), status],
		[['programs', 'signatures', 'descriptions', 'approvals', 'configuration', 'keys', 'server_keys', 'database', 'role', 'clock'], 'ok']);
	for (const [args, mistake] of [
		[['--only', 'role,roles'], /^urlmode: there is no check roles$/m],
		[['--only', ','], /^urlmode: --only needs the names of checks$/m],
		[['--only', 'role', '--record'], /^urlmode: --record keeps the numbers of a whole check, without --only$/m],
	]) {
		const { status: exit, out, err } = await check(args);
		assert.deepEqual([exit, out], [64, '']);
		assert.match(err, mistake);
	}
	// Each by itself has all that it needs; most are asked for alone below.
	for (const name of ['local', 'webhook', 'server', 'console']) {
		const said = await reportOf([name]);
		assert.deepEqual([said.status, said.findings.some((finding) => finding.check === name)], ['ok', name !== 'server'], JSON.stringify(said));
	}
});

describe('configuration and files', () => {
	test('a configuration that is refused ends the check', async () => {
		await changeConfig((config) => { config.colour = 'blue'; });
		await finds('configuration', 'error', /\/colour/);
	});

	test('a description that is refused', async () => {
		await changeConfig((config) => { config.providers.mine = { kind: 'payment', description: '/nonexistent.json' }; });
		await finds('configuration', 'error', /nonexistent\.json/);
	});

	test('a description that was not compared for a year', async () => {
		const { verify: [scheme], ...shipped } = JSON.parse(await readFile(new URL('../../lib/providers/stripe.json', import.meta.url), 'utf8'));
		await changeConfig((config) => { config.providers.mine = { ...config.providers.stripe, description: inStack('mine.json') }; });
		undo.push(() => unlink(inStack('mine.json')));
		const written = (compared, root = compared) => writeFile(inStack('mine.json'), JSON.stringify(
			{ ...shipped, compared: root, verify: [{ ...scheme, compared }] }), { mode: 0o644 });
		const found = async () => (await reportOf(['descriptions'])).findings.find((finding) => finding.check === 'descriptions');
		await written('2025-11-26');
		await finds('descriptions', 'warning', /^not compared with the provider's documents: mine since 2025-11-26 \(\S+\/mine\.json\)$/);
		await written('2026-11-28', '2024-02-29');
		await finds('descriptions', 'warning', /mine since 2024-02-29 /);
		for (const day of ['2025-11-28', '2026-11-28', undefined]) {
			await written(day);
			assert.equal((await found()).severity, 'ok', day);
		}
	});

	test("a site's own description whose units cannot be those of the currencies", async () => {
		const shipped = JSON.parse(await readFile(new URL('../../lib/providers/stripe.json', import.meta.url), 'utf8'));
		await changeConfig((config) => { config.providers.mine = { ...config.providers.stripe, description: inStack('mine.json') }; });
		undo.push(() => unlink(inStack('mine.json')));
		for (const [change, mistake] of [
			[{ exponents: { EUR: 5 } }, /mine\.json: \/amount\/exponents\/EUR: is not a whole number from 0 to 4$/],
			[{ exponents: { EUR: 2 } }, /\/amount\/exponents\/EUR: is what ISO 4217 says: leave it out$/],
			[{ exponents: { USDC: 6 } }, /\/amount\/exponents\/USDC: is not a currency of ISO 4217, three upper case letters$/],
			[{ exponents: undefined, places: { JPY: 0 } }, /\/amount\/places\/JPY: is not less than ISO 4217 says$/],
			[{ as: 'decimal' }, /\/amount\/exponents: cannot be used: the amount is not in minor units$/],
		]) {
			await writeFile(inStack('mine.json'), JSON.stringify({ ...shipped, amount: { ...shipped.amount, ...change } }), { mode: 0o644 });
			await finds('configuration', 'error', mistake);
		}
	});

	test("a certificate for a provider's signatures that expires soon, and one that has expired", async () => {
		undo.push(() => signAgain(stack.runDir, new Date(Date.now() + 30 * DAY)));
		signAgain(stack.runDir, new Date(Date.now() + 13 * DAY));
		await finds('signatures', 'warning', /provider paypal: the certificate for its signatures expires on 2/);
		signAgain(stack.runDir, new Date(Date.now() - DAY));
		await finds('configuration', 'error', /provider paypal: the certificate for its signatures expired on 2/);
	});

	test('approvals by others, where nobody knows the users', async () => {
		await changeConfig(({ providers }) => {
			providers.expenses = { kind: 'approval' };
			providers.terms = { kind: 'approval' };
		});
		await finds('approvals', 'warning', /: of expenses, terms only the starter's own approvals work, and others get 403 \(approval_needs_sign_in\)$/);
		await changeConfig((config) => { config.user_check = 'session-ticket'; });
		assert.deepEqual(well(await reportOf(['approvals']), 'approvals'), ['expenses, terms of kind approval, with user_check session-ticket']);
	});

	test('no configuration: it advises setup', async () => {
		const { findings } = await finds('configuration', 'error', /No such file/, { URLMODE_CONFIG: inStack('none.json') });
		assert.match(findings.at(-1).advice, /^urlmode setup https:\/\/HOST/);
	});

	if (IS_ROOT) {
		test('one that the user of the programs cannot read', async () => {
			await changeMode(stack.env.URLMODE_CONFIG, 0o600);
			await finds('configuration', 'error', /Permission denied/);
		});
	}

	test('who can read or change what only some need, and a key that has sealed for long', async () => {
		const expected = [
			['permissions', 'error', /keys has mode 660/],
			['permissions', 'error', /operator\.env has mode 644/],
			['keys', 'warning', /key 1 has sealed for \d+ days/],
		];
		if (IS_ROOT) { // root's would not be the user's of the programs
			const { uid, gid } = await stack.user();
			undo.push(() => chown(stack.env.URLMODE_CONFIG, 0, gid));
			await chown(stack.env.URLMODE_CONFIG, uid, gid);
			expected.unshift(['permissions', 'warning', /config\.json belongs to postgres, who can change it/]);
		}
		await changeMode(stack.env.URLMODE_KEYS_FILE, 0o660);
		await writeFile(inStack('operator.env'), 'URLMODE_OPERATOR_DATABASE_URL=\n', { mode: 0o644 });
		undo.push(() => unlink(inStack('operator.env')));
		await changeFile(stack.env.URLMODE_KEYS_FILE, (text) => `${text}# 2020-01-31T12:00:00Z key 1 seals\n`);
		await findsAll(expected);
	});

	const other = (kid) => `${kid} ${Buffer.alloc(32, kid).toString('base64')}\n`;
	for (const [name, change, severity, message] of [
		['other keys', () => other(1), 'error', /server-keys seals with key 1, which .*keys does not have/],
		['in a rotation, not yet everywhere', (text) => text + other(2), 'warning', /differ, and open what each other seals/],
		['with a new key on top too early', (text) => other(2) + text, 'error', /server-keys seals with key 2/],
		['none', () => '', 'error', /server-keys/],
	]) {
		test(`a server's keys: ${name}`, async () => {
			await changeFile(serverKeys, change);
			await finds('server_keys', severity, message);
		});
	}

	test('a server whose keys are in another spelling has the same', async () => {
		await changeFile(serverKeys, (text) => `# the server's\n${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`);
		assert.equal((await reportOf(['server_keys'])).status, 'ok');
	});

	test('what it has nothing to compare with, and no right or no systemd to ask, is skipped', async () => {
		await mkdir(inStack('without'));
		undo.push(() => rm(inStack('without'), { recursive: true }));
		await writeFile(inStack('without/systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
		await findsInWhole([
			['server_keys', 'skipped', /no keys file of an MCP server/],
			['migrations', 'skipped', /no connection as urlmode_operator/],
			['storage', 'skipped', /no connection as urlmode_operator/],
			['deliveries', 'skipped', /no connection as urlmode_operator/],
			['units', 'skipped', /systemd does not run here/],
		], { URLMODE_KEYS_FILE: '', URLMODE_OPERATOR_DATABASE_URL: '', PATH: `${inStack('without')}:${inStack('systemd')}:${process.env.PATH}` });
	});
});

describe('the database', () => {
	test('deliveries of the last day that could not be read: how many, of whom', async () => {
		const add = (provider, number, age) => sql(`INSERT INTO urlmode.unreadable_delivery (provider, digest, reason, place, request, times, last_seen_at)
			SELECT '${provider}', decode(md5(i::text), 'hex'), 'body_malformed', '/type', 'r', 9, now() - interval '${age}' FROM generate_series(1, ${number}) AS i`,
		`DELETE FROM urlmode.unreadable_delivery WHERE provider = '${provider}'`);
		await add('old', 3, '25 hours');
		assert.equal((await reportOf(['deliveries'])).status, 'ok');
		await add('stripe', 2, '23 hours');
		await add('adyen', 1, '1 minute');
		await finds('deliveries', 'warning', /could not be read and were refused: 1 of adyen, 2 of stripe$/);
	});

	test('one that has no list of deliveries yet', async () => {
		await sql('ALTER FUNCTION urlmode.list_unreadable RENAME TO list_unread', 'ALTER FUNCTION urlmode.list_unread RENAME TO list_unreadable');
		await finds('deliveries', 'skipped', /its list of deliveries is missing/);
	});

	test('that does not answer', async () => {
		await changeConfig((config) => { config.database_url = config.database_url.replace(/:\d+\//, ':1/'); });
		await findsInWhole([['database', 'error', /Connection refused/]]);
	});

	test('a wrong password, which is not shown', async () => {
		await changeConfig((config) => { config.database_url = config.database_url.replace(/:[^:@]+@/, ':hunter2@'); });
		const said = await findsInWhole([['database', 'error', /password authentication failed/]]);
		assert.ok(!JSON.stringify(said).includes('hunter2'));
	});

	test('where nothing can be written; a migration that is missing', async () => {
		await sql('ALTER ROLE urlmode_cgi SET default_transaction_read_only = on', 'ALTER ROLE urlmode_cgi RESET default_transaction_read_only');
		await sql("DELETE FROM urlmode.migration WHERE name = 'frameworks/012_storage.sql'", "INSERT INTO urlmode.migration (name) VALUES ('frameworks/012_storage.sql')");
		await findsInWhole([
			['database', 'error', /nothing can be written: default_transaction_read_only is on for urlmode_cgi/],
			['migrations', 'error', /does not have frameworks\/012_storage\.sql$/],
		]);
	});

	test('migrations that are not as they were applied', async () => {
		const where = "WHERE name IN ('045_refresh.sql', 'frameworks/012_storage.sql')";
		await sql(`UPDATE urlmode.migration SET digest = repeat('0', 64) ${where}`, `UPDATE urlmode.migration SET digest = NULL ${where}`);
		const { findings } = await finds('migrations', 'error', /^not as it was applied: 045_refresh\.sql frameworks\/012_storage\.sql$/);
		assert.equal(findings.find((each) => each.check === 'migrations').advice, 'urlmode migrate says the way out');
		// Which an operator follows, for one after the other.
		const migrate = () => urlmode(['migrate'], { URLMODE_ADMIN_DATABASE_URL: stack.env.URLMODE_ADMIN_DATABASE_URL });
		for (const name of ['045_refresh.sql', 'frameworks/012_storage.sql']) {
			const { status, err } = await migrate();
			assert.notEqual(status, 0);
			const [way] = /UPDATE urlmode\.migration SET digest = NULL WHERE name = '[^']*'/.exec(err);
			assert.ok(way.endsWith(`'${name}'`), err);
			await stack.sql(way);
		}
		assert.equal((await migrate()).status, 0);
		assert.equal(well(await reportOf(['migrations']), 'migrations').length, 1);
	});

	test('a password of whoever asks is not the programs\'', async () => {
		let password;
		await changeConfig((config) => {
			({ password } = new URL(config.database_url));
			config.database_url = config.database_url.replace(/:[^:@/]+@/, '@');
		});
		await finds('database', 'error', /no password supplied/, { PGPASSWORD: password });
	});

	test('that is another, without the schema; a migration of a newer version', async () => {
		await changeConfig((config) => { config.database_url = config.database_url.replace(/urlmode$/, 'template1'); });
		await sql("INSERT INTO urlmode.migration (name) VALUES ('999_news.sql')", "DELETE FROM urlmode.migration WHERE name = '999_news.sql'");
		await findsInWhole([
			['database', 'error', /the schema urlmode is not there/],
			['migrations', 'warning', /has 999_news\.sql, of a newer version/],
		]);
	});

	for (const [version, severity, message] of [[0, 'error', /the functions have version 0, and not \d+$/], [900, 'warning', /has functions of a newer version/]]) {
		test(`functions of version ${version}`, async () => {
			const [{ as_it_was: asItWas }] = await stack.sql("SELECT pg_get_functiondef('urlmode.functions_version'::regproc) AS as_it_was");
			await sql(asItWas.replace(/SELECT \d+/, `SELECT ${version}`), asItWas);
			await finds('migrations', severity, message);
		});
	}

	test('a role that may do everything; a schema of before the operator\'s functions', async () => {
		await changeConfig((config) => { config.database_url = stack.env.URLMODE_ADMIN_DATABASE_URL; });
		await sql('REVOKE EXECUTE ON FUNCTION urlmode.list_migrations() FROM urlmode_operator',
			'GRANT EXECUTE ON FUNCTION urlmode.list_migrations() TO urlmode_operator');
		await findsInWhole([
			['role', 'error', /postgres may read the tables/],
			['migrations', 'error', /permission denied/],
		]);
	});

	test('a role without its settings; a clock that is another', async () => {
		await sql('ALTER ROLE urlmode_cgi IN DATABASE urlmode RESET jit', 'ALTER ROLE urlmode_cgi IN DATABASE urlmode SET jit = off');
		const folder = inStack('clock');
		execFileSync('mkdir', [folder]);
		undo.push(() => rm(folder, { recursive: true }));
		await writeFile(path.join(folder, 'date'), `#!/bin/sh
case "$*" in +%s) echo $(($(/bin/date +%s) - 7)) ;; *) exec /bin/date "$@" ;; esac\n`, { mode: 0o755 });
		await findsAll([
			['role', 'warning', /has not the settings of urlmode_cgi/],
			['clock', 'warning', /clock is [678] seconds away/],
		], { PATH: `${folder}:${inStack('systemd')}:${process.env.PATH}` });
	});
});

describe('what runs', () => {
	const reasonOf = (reason) => ['units', 'error', new RegExp(`starts again and again: ${reason}$`)];

	test('each unit that does not run as it must, a purge that nobody starts, and nginx', async () => {
		const states = [
			['connect', { ActiveState: 'failed', SubState: 'failed' }, 'error', /^urlmode@connect\.service has failed: urlmode: the last line$/],
			['oauth-return', { ActiveState: 'inactive', SubState: 'dead' }, 'error', /^urlmode@oauth-return\.service does not run$/],
			['payment-return', { LoadState: 'masked', ActiveState: 'inactive' }, 'error', /^urlmode@payment-return\.service is masked, and is needed$/],
			['webhook', { NRestarts: 7 }, 'warning', /^urlmode@webhook\.service has been started again 7 times: urlmode: the last line$/],
			// It runs for a moment each time.
			['status', { NRestarts: 7, ExecMainStartTimestampMonotonic: Math.floor((uptime() + 1_000) * 1e6) }, 'error',
				/^urlmode@status\.service starts again and again: urlmode: the last line$/],
			['form', { ActiveState: 'activating', SubState: 'auto-restart' }, 'error', /^urlmode@form\.service starts again and again: urlmode: the last line$/],
		];
		for (const [name, changes] of states) await unit(`urlmode@${name}.service`, changes);
		await unit('urlmode-purge.timer', { ActiveState: 'inactive', SubState: 'dead' });
		await unit('nginx.service', { ActiveState: 'failed', SubState: 'failed' });
		await findsInWhole([
			...states.map(([, , severity, message]) => ['units', severity, message]),
			['units', 'warning', /^urlmode-purge\.timer does not run: no old rows are deleted from here$/],
			['units', 'error', /^nginx\.service has failed: urlmode: the last line$/],
		]);
	});

	/** What the journal has of a unit: of each line how many seconds it is behind the one before, 10 unless told. */
	async function journal(name, lines) {
		let time = 1_795_570_000;
		const text = lines.map((line) => [line].flat()).map(([line, after = 10]) => `${(time += after).toFixed(6)} program[7]: ${line}\n`);
		undo.push(() => unlink(inStack(`systemd/journal-${name}`)));
		await writeFile(inStack(`systemd/journal-${name}`), text.join(''));
	}

	test('the reason of a unit that fails, and a purge that has failed', async () => {
		const reasons = [
			// Its own last line.
			['connect', ['Started X - urlmode, webhook.', 'urlmode webhook: the reason', 'X: Main process exited, code=exited, status=1/FAILURE',
				"X: Failed with result 'exit-code'.", 'X: Scheduled restart job, restart counter is at 7.', 'Stopped X - urlmode, webhook.', 'Started X - urlmode, webhook.'],
			'urlmode webhook: the reason'],
			// How its process ended.
			['oauth-return', ['Started X - urlmode, webhook.', '{"time":"now","request":"0123","status":200}', 'Reloading X - urlmode, webhook...', 'Reloaded X - urlmode, webhook.',
				'X: Main process exited, code=killed, status=9/KILL',
				"X: Failed with result 'signal'.", 'X: Consumed 1s CPU time.'], 'X: Main process exited, code=killed, status=9/KILL'],
			// The line of its last end.
			['payment-return', ['Started X.', 'the first reason', "X: Failed with result 'exit-code'.", 'Started X.', 'the second reason', "X: Failed with result 'exit-code'.",
				'Started X.'], 'the second reason'],
			// What nginx refuses.
			['status', ['Starting X - A server...', ...['nginx: [emerg] bind() failed', 'nginx: [emerg] still could not bind()', 'nginx: configuration file /etc/nginx/nginx.conf test failed',
				'X: Control process exited, code=exited, status=1/FAILURE', "X: Failed with result 'exit-code'.", 'Failed to start X - A server.'].map((line) => [line, 0.5])], 'nginx: \\[emerg\\] bind\\(\\) failed'],
			// systemd's line.
			['form', ['X: Failed to load environment files: No such file or directory', "X: Failed to run 'start' task: No such file or directory",
				"X: Failed with result 'resources'.", 'Failed to start X - urlmode, webhook.'], 'X: Failed to load environment files: No such file or directory'],
		];
		for (const [name, lines] of reasons) {
			await unit(`urlmode@${name}.service`, { ActiveState: 'activating', SubState: 'auto-restart' });
			await journal(`urlmode@${name}.service`, lines);
		}
		await unit('urlmode-purge.service', { ActiveState: 'failed', SubState: 'failed' });
		await findsAll([...reasons.map(([, , reason]) => reasonOf(reason)),
			['units', 'error', /^urlmode-purge\.service has failed: urlmode: the last line$/]]);
	});

	test('the reason of a unit that fails, where the journal has the lines in another order', async () => {
		const reasons = [
			// Before the line of the start: the process was faster than systemd, which wrote later.
			['connect', ['Stopped X - A server.', 'nginx: [emerg] unknown directive', ['Starting X - A server...', 0.01],
				['X: Control process exited, code=exited, status=1/FAILURE', 0.01], ["X: Failed with result 'exit-code'.", 0]], 'nginx: \\[emerg\\] unknown directive'],
			// The journal was late: a line of systemd has its time, and one of a process the time at which the journal read it.
			['oauth-return', ['X: Deactivated successfully.', ['urlmode: the reason', 5], ['Starting X - A server...', -4.9],
				['X: Main process exited, code=exited, status=1/FAILURE', 0.01], ["X: Failed with result 'exit-code'.", 0]], 'urlmode: the reason'],
			// Behind that of the end.
			['payment-return', ['Started X.', 'the first reason', "X: Failed with result 'exit-code'.", 'Started X.', ['X: Main process exited, code=exited, status=1/FAILURE', 0.1],
				["X: Failed with result 'exit-code'.", 0], ['the second reason', 0.1], 'Started X.'], 'the second reason'],
			// What it had said a day before.
			['webhook', ['Started X.', 'urlmode: the keys were read again', ['X: Main process exited, code=killed, status=11/SEGV', 86_400],
				["X: Failed with result 'signal'.", 0]], 'X: Main process exited, code=killed, status=11/SEGV'],
			// Of an earlier start, which went well or not.
			['status', ['Starting X - A server...', ['nginx: [warn] a name twice', 0.1], ['Started X - A server.', 0.1], 'X: Main process exited, code=killed, status=9/KILL',
				["X: Failed with result 'signal'.", 0]], 'X: Main process exited, code=killed, status=9/KILL'],
			['form', ['Started X.', 'the first reason', "X: Failed with result 'exit-code'.", 'Started X.', 'X: Main process exited, code=killed, status=9/KILL',
				["X: Failed with result 'signal'.", 0], 'X: Start request repeated too quickly.', "X: Failed with result 'signal'."],
			'X: Main process exited, code=killed, status=9/KILL'],
		];
		for (const [name, lines] of reasons) {
			await unit(`urlmode@${name}.service`, { ActiveState: 'activating', SubState: 'auto-restart' });
			await journal(`urlmode@${name}.service`, lines);
		}
		await findsAll(reasons.map(([, , reason]) => reasonOf(reason)));
	});

	test('a program or a library that was replaced since it started, and nginx whose workers may not connect to the sockets', async () => {
		const expected = [['units', 'warning', /^urlmode@connect\.service runs a program that has been replaced/]];
		await mkdir(inStack('library'));
		await cp(/\/\S*libc\.so\.6/.exec(execFileSync('ldd', ['/bin/sleep'], { encoding: 'utf8' }))[0], inStack('library/libc.so.6'), { dereference: true });
		const loaded = spawn('/bin/sleep', ['60'], { env: { LD_LIBRARY_PATH: inStack('library') } });
		undo.push(() => loaded.kill());
		await until('it has loaded the library', async () => (await readFile(`/proc/${loaded.pid}/maps`, 'utf8')).includes('library/libc.so.6'));
		await rm(inStack('library'), { recursive: true });
		await unit('urlmode@form.service', { MainPID: loaded.pid });
		await cp('/bin/sleep', inStack('old'));
		const old = spawn(inStack('old'), ['60']);
		undo.push(() => old.kill());
		await once(old, 'spawn');
		await rm(inStack('old'));
		await unit('urlmode@connect.service', { MainPID: old.pid });
		if (IS_ROOT) {
			const child = spawn('sh', ['-c', 'setpriv --reuid nobody --regid nogroup --clear-groups sleep 60 & echo; wait']);
			undo.push(() => process.kill(Number(execFileSync('cat', [`/proc/${child.pid}/task/${child.pid}/children`], { encoding: 'utf8' }).split(' ')[0])));
			await once(child.stdout, 'data');
			await until('it is nobody', async () => execFileSync('ps', ['-o', 'user=', '--ppid', String(child.pid)], { encoding: 'utf8' }).trim() === 'nobody');
			await unit('nginx.service', { MainPID: child.pid });
			expected.push(['units', 'error', /^nginx's workers are nobody, who is not in the group \w+ of the sockets$/]);
		}
		await findsAll([...expected, ['units', 'warning', /^an upgrade has replaced libraries that run: urlmode@form\.service \(libc\.so\.6\)$/]]);
	});

	test('a program that no provider needs is not missed, masked and without a socket', async () => {
		let providers;
		await configure(stack, (config) => {
			({ providers } = config);
			config.providers = { demo: providers.demo };
		});
		undo.push(() => configure(stack, (config) => { config.providers = providers; }));
		await own();
		undo.push(() => stack.service('start', 'webhook', 'payment-return'));
		await stack.service('stop', 'webhook', 'payment-return');
		await unit('urlmode@webhook.service', { LoadState: 'masked', ActiveState: 'inactive' });
		await unit('urlmode-purge.timer', { LoadState: 'masked', ActiveState: 'inactive' }); // another host purges
		assert.deepEqual((await report()).findings.filter(({ severity }) => severity !== 'ok'), []);
	});

	test('a check that breaks shows what the others found', async () => {
		await mkdir(inStack('broken'));
		undo.push(() => rm(inStack('broken'), { recursive: true }));
		await writeFile(inStack('broken/stat'), '#!/bin/sh\nexec /usr/bin/stat "$@" | sed "s/^6[0-9]*$/x x/"\n', { mode: 0o755 });
		const { status, out } = await check([], { PATH: `${inStack('broken')}:${inStack('systemd')}:${process.env.PATH}` });
		assert.equal(status, 2);
		assert.match(out, /^ok +configuration /m);
		assert.match(out, /^error +programs +urlmode check itself has failed/m);
	});
});

describe('programs and nginx', () => {
	test('a limit of nginx is named, and no restart is advised', async () => {
		await changeFile(inStack('urlmode/http.conf'), (text) => text.replace('127.0.0.1 "";', '127.0.0.1 a;').replace('rate=10r/s', 'rate=1r/m'));
		await changeFile(inStack('urlmode/server.conf'), (text) => text.replace('limit_req zone=urlmode burst=50 nodelay;', 'limit_req zone=urlmode;'));
		await stack.service('restart', 'nginx');
		const { findings } = await report();
		const limited = findings.filter(({ message }) => /answers 429: nginx refuses more requests from this host itself$/.test(message));
		assert.ok(limited.length >= 2 && limited.every(({ severity }) => severity === 'warning'), JSON.stringify(findings));
		assert.deepEqual(findings.filter(({ severity, check: name }) => severity === 'error' || name === 'walk' && severity === 'ok'), []);
	});

	test('a program that does not run', async () => {
		undo.push(() => stack.service('start', 'webhook'));
		await stack.service('stop', 'webhook');
		await findsInWhole([
			['sockets', 'error', /nobody listens on .*webhook\.sock/],
			['answers', 'error', /no answer from: webhook$/],
		]);
	});

	test('a socket that is not there', async () => {
		const { status, out } = await urlmode(['check', ...asUser(), '--nginx', stack.runDir, '--sockets', '/nonexistent'], env());
		assert.equal(status, 2);
		assert.match(out, /^error +sockets +there is no socket \/nonexistent\/connect\.sock$/m);
	});

	test('a socket for everybody, a configuration that nginx refuses, and a snippet that was changed', async () => {
		await changeMode(inStack('sock/connect.sock'), 0o666);
		await changeFile(inStack('nginx.conf'), (text) => text.replace('events {', 'events {\n\tworker_connection 1;'));
		await changeFile(inStack('urlmode/errors.conf'), (text) => `# mine\n${text}`);
		await findsAll([
			['sockets', 'error', /every user can connect to .*connect\.sock/],
			['nginx', 'error', /unknown directive "worker_connection"/],
			['snippets', 'warning', /errors\.conf$/],
		]);
	});

	test('PostgreSQL is gone: /healthz says so', async () => {
		undo.push(async () => {
			await stack.service('start', 'postgres');
			await until('the programs have found it', async () => (await fetch(`${stack.baseUrl}/healthz`)).status === 200);
		});
		await stack.service('stop', 'postgres');
		await findsInWhole([['local', 'error', /\/healthz says 503/]]);
	});

	test('a notification queue that is filling, and the session that holds it', async () => {
		const [{ measure }] = await stack.sql("SELECT pg_get_functiondef('urlmode.measure'::regproc) AS measure");
		// It asks when it starts, and then every ten seconds.
		const askAgain = () => stack.service('restart', 'status');
		const filling = async () => (await (await fetch(`${stack.baseUrl}/healthz`)).json()).notification_queue === 'filling';
		const holder = new pg.Client({ connectionString: stack.env.URLMODE_DATABASE_URL });
		await holder.connect();
		undo.push(async () => {
			await holder.end();
			await stack.sql(measure);
			await askAgain();
			await until('it is over', async () => !await filling());
		});
		await holder.query('LISTEN urlmode; BEGIN');
		await stack.sql(measure.replace('pg_notification_queue_usage()', '0.3::float8'));
		await askAgain();
		await until('/healthz says so', filling);
		await finds('local', 'warning', new RegExp(`notification queue is filling\\..* process ${holder.processID} \\(role urlmode_server, database urlmode\\)`));
	});

	test('pages of nginx that are not those of the configuration', async () => {
		await changeConfig((config) => { config.pages = { name: 'Example' }; });
		await finds('snippets', 'warning', /^pages\.conf is not what this version makes of .*config\.json$/);
		const { out } = await urlmode(['pages'], env());
		await changeFile(inStack('urlmode/pages.conf'), () => out);
		assert.deepEqual(well(await reportOf(['snippets']), 'snippets'), [`${inStack('urlmode')} is of this version`]);
	});
});

test('the sign-in that was never set up: every user would get 500; with nginx they are asked', async () => {
	await configure(stack, (config) => { config.user_check = 'remote-user'; });
	undo.push(() => configure(stack, (config) => { config.user_check = 'confirm'; }));
	await own();
	await findsInWhole([['sign_in', 'error', /every user gets 500 \(sign_in_not_set_up\): user_check is remote-user/]]);

	undo.push(() => stack.service('restart', 'nginx'));
	await changeFile(inStack('nginx.conf'), (text) => text.replaceAll('include urlmode/server.conf;', '$&\ninclude urlmode/auth-basic.conf;'));
	await own();
	await stack.service('restart', 'nginx');
	// nginx asks for a password before it looks at the file, and reads the file for each request.
	const file = inStack('urlmode.htpasswd');
	undo.push(() => rm(file, { force: true }));
	await finds('sign_in', 'error', /^nobody can sign in: nginx asks for a password, and has no file of passwords$/);
	await writeFile(file, '# nobody yet\n');
	await finds('sign_in', 'error', /^nobody can sign in: .*urlmode\.htpasswd has no users$/);
	// The nginx of some stacks may read every file: a link to itself nobody can read.
	await rm(file);
	await symlink('urlmode.htpasswd', file);
	await finds('sign_in', 'error', /^nobody can sign in: nginx asks for a password, and cannot read its file of passwords$/);
	await rm(file);
	await writeFile(file, `ada:{SHA}${createHash('sha1').update('x').digest('base64')}\n`);
	assert.deepEqual(well(await reportOf(['sign_in']), 'sign_in'), ['a user is asked to sign in, with user_check remote-user']);

	// oauth2-proxy, which does not run.
	const [port] = await freePorts(1);
	await changeFile(inStack('nginx.conf'), (text) => text.replaceAll('auth-basic.conf', 'auth-request.conf'));
	await changeFile(inStack('urlmode/auth-request.conf'), (text) => text.replaceAll(':4180', `:${port}`));
	await own();
	await stack.service('restart', 'nginx');
	const said = await finds('sign_in', 'error', /^nobody can sign in: nginx gets no answer from oauth2-proxy, and users get 500$/);
	assert.deepEqual(well(said, 'answers'), ['each program answers through nginx']);

	// A site that refuses instead.
	await changeFile(inStack('nginx.conf'), (text) => text.replaceAll('include urlmode/auth-request.conf;', 'deny all;'));
	await own();
	await stack.service('restart', 'nginx');
	await finds('sign_in', 'warning', /^a user gets 403 at \/connect, and is not asked to sign in$/);
});

describe('the OpenID provider', () => {
	let provider;

	const refresh = async () => assert.deepEqual((await urlmode(['jwks', 'refresh'], env())).err, '');
	const fresh = () => [`1 keys of ${provider.issuer}, as fresh as they must be`];

	before(async () => {
		provider = await startOpenIdProvider('google');
		await configure(stack, (config) => {
			config.user_check = 'openid';
			config.openid = { ...provider.openid, jwks_file: 'jwks.json', refresh_file: 'refresh' };
		});
		await own();
		await refresh();
	});

	after(async () => {
		await configure(stack, (config) => {
			config.user_check = 'confirm';
			delete config.openid;
		});
		await own();
		await provider.close();
	});

	/** Later than the files are, as far as the command can see. */
	async function later(time) {
		const folder = inStack('later');
		await mkdir(folder);
		undo.push(() => rm(folder, { recursive: true }));
		await writeFile(path.join(folder, 'date'), `#!/bin/sh\n[ "$*" = +%s ] && exec /bin/date -d 'now + ${time}' +%s\nexec /bin/date "$@"\n`, { mode: 0o755 });
		return { PATH: `${folder}:${inStack('systemd')}:${process.env.PATH}` };
	}

	/** What the provider says of itself in this test. */
	function says(discovery) {
		undo.push(() => { provider.discovery = undefined; });
		provider.discovery = discovery;
	}

	test('is as the configuration says, and its keys are fresh', async () => {
		const said = await report();
		assert.equal(said.status, 'ok');
		assert.deepEqual(['issuer_keys', 'sign_in', 'issuer'].map((name) => well(said, name)),
			[fresh(), ['a user is sent to the OpenID provider'], [`${provider.issuer} is as ${stack.env.URLMODE_CONFIG} says`]]);
	});

	test('without its keys the programs do not start', async () => {
		undo.push(refresh);
		await rm(inStack('jwks.json'));
		await finds('configuration', 'error', /jwks\.json: No such file or directory$/);
	});

	test('new keys, and keys that nobody fetches', async () => {
		undo.push(refresh);
		await rm(inStack('jwks.json.due'));
		provider.rotate();
		await findsAll([
			['issuer_keys', 'warning', /is not from urlmode jwks refresh/],
			['issuer', 'warning', /has keys that are not in .*jwks\.json/],
		]);
	});

	test('keys that were to be fetched within the hour are fresh enough, but not without the units that fetch them', async () => {
		for (const name of ['urlmode-jwks.timer', 'urlmode-jwks.path']) await unit(name, { ActiveState: 'inactive', SubState: 'dead' });
		const said = await findsInWhole([
			['units', 'error', /^urlmode-jwks\.timer does not run$/],
			['units', 'error', /^urlmode-jwks\.path does not run$/],
		], await later('1 hour'));
		assert.deepEqual(well(said, 'issuer_keys'), fresh());
	});

	test('keys that were to be fetched an hour ago, and a provider that posts no id tokens any more', async () => {
		says({ response_modes_supported: ['query'] });
		await findsAll([
			['issuer_keys', 'warning', /have not been fetched for 2 days, and were due before$/],
			['issuer', 'error', /does not answer with an id token by form_post/],
		], await later('26 hours'));
	});

	/** As a program does when a user comes with an unknown key. */
	async function ask() {
		undo.push(() => rm(inStack('refresh')));
		await writeFile(inStack('refresh'), '');
		await utimes(inStack('refresh'), Date.now() / 1_000 + 1, Date.now() / 1_000 + 1);
	}

	test('a program has just asked for a key; with another address for signing in', async () => {
		await ask();
		says({ authorization_endpoint: `${provider.origin}/other` });
		const said = await findsInWhole([['issuer', 'error', /^the authorization_endpoint of .* is .*\/other, and not that of .*config\.json$/]]);
		assert.deepEqual(well(said, 'issuer_keys'), fresh());
	});

	test('a program has asked for a key, and nobody has come; a provider whose documents cannot be fetched', async () => {
		await ask();
		says({ issuer: 'https://other.example' });
		await findsAll([
			['issuer_keys', 'warning', /^a user came with a key that is not in .*, and the keys were not fetched after that$/],
			['issuer', 'warning', /that of another issuer/],
		], await later('11 minutes'));
	});

	test('to which the programs send nobody, since they were not restarted', async () => {
		await changeConfig((config) => { config.openid.authorization_endpoint = `${provider.origin}/elsewhere`; });
		await finds('sign_in', 'error', /^\/connect answers 303, and does not send a user to .*\/elsewhere$/);
	});
});
