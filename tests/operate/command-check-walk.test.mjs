// urlmode check does what a user does: what is well for each part by itself, and stops every user, has a finding with its cause.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import pg from 'pg';
import { UrlMode } from 'urlmode';

import { changeConfig, changeFile, checkedStack, env, findsAll, finds, findsInWhole, inStack, own, report, reportOf, sql, stack, undo, unit, well } from '../support/checked-stack.mjs';
import { COMMAND, OPERATE, RELEASE, asUser, urlmode } from '../support/command.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { familyOf } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';
import { configure } from '../security/deployment.mjs';

checkedStack('operate-command-walk');

const THROUGH = (way) => [`a user gets through, ${way}: /connect, /form, the commit, its notification and the sealed outcome`];
const walked = async () => well(await report(), 'walk');

/** An administrator's session, for the length of a test. */
async function session() {
	const client = new pg.Client({ connectionString: stack.env.URLMODE_ADMIN_DATABASE_URL });
	await client.connect();
	undo.push(() => client.end());
	return client;
}

describe('with each way to know the user', () => {
	test('confirm: through nginx, and nothing of it is left', async () => {
		assert.deepEqual(await walked(), THROUGH('through nginx'));
		for (const table of ['elicitation', 'form', 'event', 'ledger']) {
			assert.deepEqual(await stack.sql(`SELECT count(*)::int AS rows FROM urlmode.${table}`), [{ rows: 0 }]);
		}
	});

	test('session-ticket: with a ticket that it makes itself', async () => {
		await configure(stack, (config) => { config.user_check = 'session-ticket'; });
		undo.push(() => configure(stack, (config) => { config.user_check = 'confirm'; }));
		await own();
		assert.deepEqual(await walked(), THROUGH('through nginx'));
	});

	test('openid: with a session that it makes itself', async () => {
		const provider = await startOpenIdProvider('google');
		undo.push(() => provider.close(), () => configure(stack, (config) => {
			config.user_check = 'confirm';
			delete config.openid;
		}));
		await configure(stack, (config) => {
			config.user_check = 'openid';
			config.openid = { ...provider.openid, jwks_file: 'jwks.json', refresh_file: 'refresh' };
		});
		await own();
		assert.equal((await urlmode(['jwks', 'refresh'], env())).status, 0);
		assert.deepEqual(await walked(), THROUGH('through nginx'));

		// Each user who has signed in is somebody else than MCP servers mean: the claim is wrong.
		const server = new UrlMode({ databaseUrl: stack.env.URLMODE_DATABASE_URL, keysFile: stack.env.URLMODE_KEYS_FILE, baseUrl: stack.baseUrl });
		undo.push(() => server.close(), () => stack.sql('DELETE FROM urlmode.elicitation'));
		const { url } = await server.create({ provider: 'github', kind: 'oauth', subject: 'ada', targetUrl: 'https://github.example/' });
		const { stdout } = await promisify(execFile)(OPERATE, ['walk-cookies'], { env: env() });
		for (let times = 0; times < 3; times++) {
			assert.equal((await fetch(url, { headers: { cookie: stdout.trim() }, redirect: 'manual' })).status, 403);
		}
		await finds('sign_in', 'error', /^each user who has signed in is another one than the link is for: 3 were refused \(wrong_user\), and nobody came through$/);
	});

	test('remote-user: as far as the sign-in through nginx, and then at the sockets', async () => {
		await configure(stack, (config) => { config.user_check = 'remote-user'; });
		undo.push(() => configure(stack, (config) => { config.user_check = 'confirm'; }));
		await own();
		// Nobody is asked to sign in: no user comes further.
		const said = await findsInWhole([['sign_in', 'error', /sign_in_not_set_up/]]);
		assert.deepEqual(well(said, 'walk'), []);
		const { out } = await urlmode(['help', 'check']);
		assert.match(out, /^ {2}walk +a user gets through/m);
	});
});

test('a database that the programs may not send to', async () => {
	// As the units say it: this command is no unit.
	undo.push(() => rm(inStack('systemd/address-allow')), () => rm(inStack('systemd/address-deny')));
	await writeFile(inStack('systemd/address-allow'), '192.0.2.0/24 ::1/128\n');
	await writeFile(inStack('systemd/address-deny'), '0.0.0.0/0 ::/0\n');
	// What a program that waits for an answer in vain looks like.
	await sql('ALTER FUNCTION urlmode.open_form RENAME TO open_form_no_more', 'ALTER FUNCTION urlmode.open_form_no_more RENAME TO open_form');
	await finds('walk', 'error', /^\/connect answers 503 \(unavailable\): the units may not send to 127\.0\.0\.1, where the database is \(IPAddressDeny=\)$/);
});

describe('the database', () => {
	test('a synchronous standby is missing: every commit hangs', async () => {
		undo.push(async () => {
			await stack.sql('ALTER SYSTEM RESET synchronous_standby_names');
			await stack.sql('SELECT pg_reload_conf()');
		});
		await stack.sql("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'");
		await stack.sql('SELECT pg_reload_conf()');
		await findsInWhole([['walk', 'error', /^\/connect answers 503 \(unavailable\): commits hang: PostgreSQL waits for a synchronous standby of synchronous_standby_names \(nowhere\)$/]]);
	});

	test('a table is locked', async () => {
		const holder = await session();
		await holder.query('BEGIN; LOCK TABLE urlmode.form');
		await finds('sign_in', 'error', new RegExp(`^a user gets 503 at /connect: the table form is locked \\(AccessExclusiveLock\\) by process ${(await holder.query('SELECT pg_backend_pid() AS pid')).rows[0].pid} `));
	});

	test('rights that are missing, and rights that are too much', async () => {
		const [{ read, answer }] = await stack.sql("SELECT 'urlmode.read'::regproc::oid::regprocedure::text AS read, 'urlmode.answer_form_noted'::regproc::oid::regprocedure::text AS answer");
		await sql(`REVOKE EXECUTE ON FUNCTION ${answer} FROM urlmode_cgi`, `GRANT EXECUTE ON FUNCTION ${answer} TO urlmode_cgi`);
		await sql(`GRANT EXECUTE ON FUNCTION ${read} TO urlmode_cgi`, `REVOKE EXECUTE ON FUNCTION ${read} FROM urlmode_cgi`);
		await findsAll([
			['schema', 'error', /^the rights are not those of the last migrate: urlmode_cgi may execute urlmode\.read; urlmode_cgi may not execute urlmode\.answer_form_noted$/],
			['walk', 'error', /^the answer to \/form answers 5/],
		]);
		await stack.sql(`GRANT EXECUTE ON FUNCTION ${answer} TO urlmode_cgi`);
		await stack.sql(`REVOKE EXECUTE ON FUNCTION ${read} FROM urlmode_cgi`);
		await sql('GRANT urlmode_server TO urlmode_cgi', 'REVOKE urlmode_server FROM urlmode_cgi');
		await finds('schema', 'error', /urlmode_cgi may execute urlmode\.abandon; .*; and \d+ more$/);
	});

	test('a database that everybody and another deployment can connect to', async () => {
		await sql('CREATE ROLE urlmode_b_server LOGIN', 'DROP ROLE urlmode_b_server');
		await sql('GRANT CONNECT ON DATABASE urlmode TO PUBLIC, urlmode_b_server', 'REVOKE CONNECT ON DATABASE urlmode FROM PUBLIC, urlmode_b_server');
		await finds('schema', 'error', /^the rights are not those of the last migrate: everybody may connect; urlmode_b_server may connect$/);
	});

	test('an index that was dropped, and a function that was replaced', async () => {
		const [{ index, notify }] = await stack.sql("SELECT pg_get_indexdef('urlmode.elicitation_owner'::regclass) AS index, pg_get_functiondef('urlmode.notify'::regproc) AS notify");
		await sql('DROP INDEX urlmode.elicitation_owner', index);
		await sql(notify.replace(/\$function\$[^]*\$function\$/, '$function$BEGIN END$function$'), notify);
		await findsAll([
			['schema', 'error', /^it is not as the last migrate has left it: the function urlmode\.notify\(text\[\]\) was replaced; the index urlmode\.elicitation_owner is missing$/],
			['walk', 'error', /^the row was written, but its notification does not come: urlmode: no notification has come$/],
		]);
	});
});

describe('what runs, and what is on disk', () => {
	test('nginx runs another configuration', async () => {
		await changeFile(inStack('urlmode/errors.conf'), (text) => `${text}# mine\n`);
		await finds('nginx', 'error', /^it runs another configuration than the one on disk: changed since its workers began: \S+\/urlmode\/errors\.conf$/);
	});

	test('a worker of nginx that takes no connection any more, because a request has not ended: those that serve count', async () => {
		const { hostname: host, port } = new URL(stack.baseUrl);
		const sockets = new Set();
		undo.push(() => sockets.forEach((socket) => socket.destroy()));
		const isOld = ({ pid }) => readFile(`/proc/${pid}/cmdline`, 'latin1').then((title) => title.startsWith('nginx: worker process is shutting down'), () => false);
		await changeFile(inStack('urlmode/errors.conf'), (text) => `${text}# mine\n`);
		// Its header comes to no end. If the old worker ends before that is seen, once more.
		await until('an old worker stays', async () => {
			const socket = connect(port, host).on('error', () => {});
			sockets.add(socket);
			await new Promise((resolve) => socket.write('GET /done HTTP/1.1\r\n', resolve));
			const master = await stack.pid('nginx');
			process.kill(master, 'SIGHUP');
			await until('it was asked to end', async () => (await Promise.all((await familyOf(master)).map(isOld))).some(Boolean), { timeout: 1_000 }).catch(() => {});
			const { findings } = await reportOf(['nginx']);
			if (!(await Promise.all((await familyOf(master)).map(isOld))).some(Boolean)) return false;
			assert.deepEqual(well({ findings }, 'nginx'), ['nginx -t accepts its configuration, and its workers have it']);
			return true;
		});
	});

	test('a secret that no program has loaded', async () => {
		await changeConfig((config) => { config.providers.stripe.secrets = ['whsec_bmV3IHNlY3JldCBvZiB0aGUgcHJvdmlkZXI']; });
		await finds('loaded', 'error', /config\.json, or a description, has changed since these programs started, which run with the one of before: connect .*webhook/);
	});

	test('links that a server has made with a key that is not here', async () => {
		await sql(`INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expires_at, link_kid)
			VALUES ('00000000-0000-4000-8000-000000000001', 'demo', 'oauth', 'ada', '\\x00112233445566778899aabbccddeeff', 'x', 'https://x.example/', now() + interval '1 hour', 9)`,
		"DELETE FROM urlmode.elicitation WHERE subject = 'ada'");
		await finds('keys', 'error', /^links that are open were made with key 9, which \S+ does not have: their users get state_invalid$/);
	});

	test('the login of MCP servers is refused', async () => {
		const file = inStack('server.env');
		undo.push(() => rm(file));
		await writeFile(file, `URLMODE_DATABASE_URL=${stack.env.URLMODE_DATABASE_URL}\n`, { mode: 0o600 });
		assert.deepEqual(well(await reportOf(['server']), 'server'), [`what ${file} has for MCP servers reaches the database`]);
		await writeFile(file, `URLMODE_DATABASE_URL=${stack.env.URLMODE_DATABASE_URL.replace(/:[^:@]+@/, ':wrong@')}\n`);
		await finds('server', 'error', /^MCP servers do not reach the database with what \S+ has: .*password authentication failed for user "urlmode_server"/);
	});

	test('units that do not start when the host does', async () => {
		await unit('urlmode.target', { UnitFileState: 'disabled' });
		await unit('nginx.service', { UnitFileState: 'disabled' });
		await findsAll([
			['units', 'error', /^urlmode\.target is not enabled: it does not start when this host does$/],
			['units', 'error', /^nginx\.service is not enabled/],
		]);
	});

	test('the numbers are kept for /metrics and the console', async () => {
		await urlmode(['check', '--record', ...asUser(), '--nginx', stack.runDir, '--sockets', inStack('sock'), '--today', RELEASE], env());
		const text = await (await fetch(`${stack.baseUrl}/metrics`)).text();
		assert.match(text, /^urlmode_check_findings\{severity="error"\} 0$/m);
		assert.match(text, /^urlmode_check_timestamp_seconds \d{10}$/m);
		const [{ host, errors }] = await stack.sql('SELECT host, errors FROM urlmode.list_checks()');
		assert.deepEqual([host, Number(errors)], [hostname(), 0], 'and for the console');
		assert.match(text, /^urlmode_tls_certificate_expiry_timestamp_seconds \d{10}$/m);
	});
});

test('nothing that was not written is well: without room for what a check reads back, it fails', async () => {
	const script = inStack('without-room');
	undo.push(() => rm(script));
	await writeFile(script, `#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec ${COMMAND} "$@"\n`, { mode: 0o755 });
	const { status, out } = await urlmode(['check', '--json', ...asUser(), '--nginx', stack.runDir, '--sockets', inStack('sock'), '--today', RELEASE], env(), script);
	const said = JSON.parse(out);
	assert.equal(status, 2);
	assert.deepEqual(said.findings.map(({ check, severity }) => [check, severity]), [['programs', 'error']]);
	assert.match(said.findings[0].message, /^nothing can be written into \/.*, so not everything was looked at$/);
});
