// The way of an operator through nginx/README.md, from an empty Debian on. What the guide
// says to type is read from it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { ROOT } from '../stack/harness.mjs';
import { create } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';
import { allWell, check, finding } from './check.mjs';
import { BASE, HOST, USER } from './site.mjs';

export const PROGRAMS = ['connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook'];

/** The command of the guide that begins with these words: there is one. */
export function guide(beginning) {
	const text = readFileSync(path.join(ROOT, 'nginx/README.md'), 'utf8').replace(/^### By hand[^]*?^## /m, '## ');
	const lines = text.replaceAll(/ \\\n +/g, ' ').split('\n').map((line) => line.trim()).filter((line) => line.startsWith(beginning));
	assert.equal(new Set(lines).size, 1, `${beginning}: ${lines}`);
	return lines[0];
}

/** The main process of each program of the deployment `urlmode` or `urlmode-NAME`. */
export async function processes(machine, instance = 'urlmode') {
	const out = await machine.sh(`systemctl show -p MainPID --value ${PROGRAMS.map((name) => `${instance}@${name}.service`).join(' ')}`);
	return out.split('\n').filter(Boolean).map(Number);
}

/** The configuration, as an editor changes it. */
export function configure(machine, change, etc = 'etc/urlmode') {
	const file = machine.file(`${etc}/config.json`);
	const config = JSON.parse(readFileSync(file, 'utf8'));
	change(config);
	writeFileSync(file, JSON.stringify(config, null, '\t'));
}

export function walk(it) {
	test('the package asks nothing, starts nothing, and leads to setup; check does so too', async () => {
		const { machine } = it;
		const said = await machine.sh('apt-get install -q -y ./first.deb </dev/null');
		assert.match(said, /^urlmode is not set up yet; next: urlmode setup https:\/\/HOST$/m);
		assert.equal((await machine.run('systemctl', 'is-enabled', 'urlmode.target')).out, 'enabled\n');
		assert.equal(await machine.sh("systemctl list-units --no-legend --state=active 'urlmode@*'"), '');
		const { status, findings } = await check(machine);
		assert.equal(status, 2);
		assert.deepEqual(findings.filter(({ severity }) => severity === 'error').map(({ advice }) => advice), ['urlmode setup https://HOST writes it']);
	});

	test('setup writes what is missing, with the sign-in, and says what is next', async () => {
		const { machine } = it;
		const command = guide('urlmode setup --user-check').replace('oauth2-proxy', 'basic');
		assert.match(command, new RegExp(`${BASE}$`));
		const said = await machine.sh(command);
		assert.match(said, /^Next:$/m);
		assert.match(said, /htpasswd -B -c FILE NAME/);
		assert.match(said, /There is no certificate .* stays disabled/);
		await machine.sh(`htpasswd -b -B -c /etc/nginx/urlmode.htpasswd ${USER} 'correct horse'`);
		configure(machine, ({ providers }) => {
			providers.github = { kind: 'oauth', display_name: 'GitHub' };
			providers.stripe = { kind: 'payment', display_name: 'Stripe', secrets: ['whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw'] };
		});
	});

	test('a challenge of ACME is answered before the site is enabled and after it', async () => {
		const { machine, authority } = it;
		assert.match(guide('certbot certonly'), new RegExp(`--webroot -w /var/www/html --deploy-hook 'systemctl reload nginx' -d ${HOST}$`));
		await machine.sh(`mkdir -p /var/www/html/.well-known/acme-challenge
			printf token.thumbprint >/var/www/html/.well-known/acme-challenge/token`);
		// As Let's Encrypt does it, on a connection of its own: nginx closes those that are kept when it reloads.
		const get = (place) => request(`http://${HOST}${place}`, { agent: false });
		const answer = async () => (await get('/.well-known/acme-challenge/token')).body;
		assert.equal(await answer(), 'token.thumbprint');

		authority.certify(machine, 90);
		writeFileSync(machine.file('usr/local/share/ca-certificates/tests.crt'), authority.certificate);
		await machine.sh(`update-ca-certificates
			ln -s ../sites-available/urlmode.conf /etc/nginx/sites-enabled/
			${guide('nginx -t && systemctl reload nginx')}`);
		await until('nginx has the site', async () => (await get('/done')).status === 308);
		assert.equal(await answer(), 'token.thumbprint');
	});

	test('the programs start, and check finds nothing wrong', async () => {
		const { machine, site } = it;
		await machine.sh(guide('systemctl enable --now urlmode.target'));
		await site.serves();
		site.open();
		await allWell(machine);
	});

	test('a user connects an account, another pays, and show tells of it', async () => {
		const { machine, site } = it;
		await site.connect();
		const { id } = await site.pay();
		assert.match(await machine.sh(`urlmode show ${id}`), /10\.50 EUR|1050 EUR/);
		assert.match(await machine.sh("journalctl -o cat -u 'urlmode@webhook'"), new RegExp(`"elicitation":"${id}"`));
	});

	for (const [what, file, version] of [['an upgrade', 'next.deb', /\+next$/], ['a downgrade', 'first.deb', /(?<!\+next)$/]]) {
		test(`${what} under load fails no request, and the new programs run`, async () => {
			const { machine, site } = it;
			const before = await processes(machine);
			await site.underLoad(async (walks) => {
				await machine.sh(`apt-get install -q -y --allow-downgrades ./${file}`);
				const enough = walks() + 16;
				await until('it still goes on', () => walks() >= enough, { timeout: 120_000 });
			});
			assert.match((await machine.sh("dpkg-query -W -f '${Version}' urlmode")), version);
			const after = await processes(machine);
			assert.equal(after.filter((pid) => pid > 1 && !before.includes(pid)).length, PROGRAMS.length);
			await allWell(machine);
		});
	}

	test('keys turn under load, without a restart and a signal', async () => {
		const { machine, site } = it;
		const before = await processes(machine);
		const open = await create(site.urlmode, { provider: 'github', subject: USER });
		await site.underLoad(async (walks) => {
			for (const step of ['urlmode keys rotate', 'urlmode keys rotate --promote', 'urlmode keys drop --force 1']) {
				if (step.includes('drop')) await site.connect(open); // of the key that is dropped then
				await machine.sh(step);
				site.copyKeys();
				// Both sides have read it after a second.
				const enough = walks() + 16;
				const since = Date.now();
				await until('it goes on with the new file', () => walks() >= enough && Date.now() - since > 1_500, { timeout: 120_000 });
			}
		});
		assert.deepEqual(await processes(machine), before);
		assert.match(await machine.sh('urlmode keys list'), /key 2 seals and opens/);
		await allWell(machine);
	});

	test('after a reboot all is up, with what the counters and the journal had', async () => {
		const { machine, site } = it;
		await site.close();
		await machine.powerOff();
		assert.equal(existsSync(machine.file('run/urlmode')), false);
		await machine.boot();
		await site.serves();
		site.open();
		await site.connect();
		await site.pay();
		await allWell(machine);
		assert.equal((await machine.run('systemctl', 'is-system-running')).out, 'running\n');
	});

	test('the target stops with its sockets, and starts again', async () => {
		const { machine, site } = it;
		await machine.sh('systemctl stop urlmode.target');
		assert.equal(await machine.sh('ls /run/urlmode'), 'metrics\n');
		assert.match(finding(await check(machine), 'units').message, /does not run$/);
		// The target is active before its sockets, so that they are stopped before it.
		await machine.sh('systemctl start urlmode.target');
		await site.serves();
		await site.connect();
	});
}

/** The end of the guide, after everything else. */
export function leave(it) {
	test('an upgrade to what the new programs refuse leaves the old ones running', async () => {
		const { machine, site } = it;
		const before = await processes(machine);
		configure(machine, (config) => { config.colour = 'blue'; });
		const said = await machine.sh('apt-get install -q -y ./next.deb');
		assert.match(said, /^urlmode: the programs of before still run\. Correct this, then:/m);
		assert.deepEqual(await processes(machine), before);
		await site.connect();
		await until('/healthz says that the next start will fail', async () => JSON.parse((await site.get('/healthz')).body).configuration === 'refused');
		configure(machine, (config) => { delete config.colour; });
	});

	test('removed and purged, no unit and no file is left but the database', async () => {
		const { machine, site } = it;
		await site.close();
		// A timer may have come by while the configuration was refused.
		await machine.sh('systemctl reset-failed; apt-get remove -q -y urlmode');
		assert.equal(await machine.sh("systemctl list-units --no-legend --state=active,failed 'urlmode*'"), '');
		assert.ok(existsSync(machine.file('etc/urlmode/keys')));
		assert.match(await machine.sh('dpkg -P urlmode'), /^The database urlmode is left as it is/m);
		assert.deepEqual(['etc/urlmode', 'var/log/urlmode', 'run/urlmode', 'etc/nginx/urlmode'].filter((name) => existsSync(machine.file(name))), []);
	});
}
