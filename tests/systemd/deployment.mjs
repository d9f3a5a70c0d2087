// Another deployment on the same host, as nginx/README.md says it: set up, upgraded with the
// package, started at boot and removed, while the first one goes on.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { until } from '../support/wait.mjs';
import { allWell } from './check.mjs';
import { Site, USER } from './site.mjs';
import { PROGRAMS, configure, guide, processes } from './walk.mjs';

const HOST = 'b.example.com';
const UNIT = 'etc/systemd/system/urlmode-b@.service';

export function deployment(it) {
	/** Both serve, and `check` finds nothing wrong with either. */
	async function bothAreWell() {
		const { machine, site, second } = it;
		await Promise.all([site.serves(), second.serves()]);
		await allWell(machine, 'b');
		await allWell(machine);
	}

	test('setup makes it beside the first one, and a user connects an account and pays', async () => {
		const { machine, authority } = it;
		it.second = new Site(machine, authority.certificate, HOST, 'etc/urlmode-b');
		await machine.sh(guide('urlmode --deployment b setup').replace('oauth2-proxy', 'basic'));
		configure(machine, ({ providers }) => {
			providers.github = { kind: 'oauth', display_name: 'GitHub' };
			providers.stripe = { kind: 'payment', display_name: 'Stripe', secrets: ['whsec_c2VjcmV0IG9mIGIncyB0ZXN0cw'] };
		}, 'etc/urlmode-b');
		authority.certify(machine, 90, HOST, HOST);
		await machine.sh(`htpasswd -b -B -c /etc/nginx/urlmode-b.htpasswd ${USER} 'correct horse'
			ln -s ../sites-available/urlmode-b.conf /etc/nginx/sites-enabled/
			nginx -t -q && systemctl reload nginx
			${guide('systemctl enable --now urlmode-b.target')}`);
		await it.second.serves();
		it.second.open();
		await bothAreWell();
		await it.second.connect();
		await it.second.pay();
	});

	test('neither reads the files of the other, or connects to its sockets', async () => {
		const { machine } = it;
		for (const [user, theirs] of [['urlmode', 'urlmode-b'], ['urlmode-b', 'urlmode']]) {
			for (const file of ['keys', 'config.json', 'operator.env'])
				assert.notEqual((await machine.run('runuser', '-u', user, '--', 'cat', `/etc/${theirs}/${file}`)).status, 0, `${user} reads ${file}`);
			// 7: it could not connect.
			assert.equal((await machine.run('runuser', '-u', user, '--', 'curl', '-s', '--unix-socket', `/run/${theirs}/connect.sock`, 'http://x/')).status, 7);
		}
	});

	for (const [what, file, unit] of [['an upgrade', 'next.deb', /\n# next\n$/], ['a downgrade', 'first.deb', /[^t]\n$/]]) {
		test(`${what} of the package makes its units again and starts its programs, and no request of either fails`, async () => {
			const { machine, site, second } = it;
			const before = await processes(machine, 'urlmode-b');
			await Promise.all([site, second].map((each) => each.underLoad(async (walks) => {
				if (each === second) await machine.sh(`apt-get install -q -y --allow-downgrades ./${file}`);
				const enough = walks() + 16;
				await until('it still goes on', () => walks() >= enough, { timeout: 240_000 });
			})));
			assert.match(readFileSync(machine.file(UNIT), 'utf8'), unit);
			const now = await processes(machine, 'urlmode-b');
			assert.equal(now.filter((pid) => pid > 1 && !before.includes(pid)).length, PROGRAMS.length);
			assert.equal(await machine.sh(`systemctl show -P NeedDaemonReload ${PROGRAMS.map((name) => `urlmode-b@${name}.service`).join(' ')} | sort -u | grep .`), 'no\n');
			await bothAreWell();
		});
	}

	test('after a reboot both are up', async () => {
		const { machine, site, second } = it;
		await Promise.all([site.close(), second.close()]);
		await machine.powerOff();
		await machine.boot();
		await Promise.all([site.serves(), second.serves()]);
		for (const each of [site, second]) {
			each.open();
			await each.connect();
		}
		await bothAreWell();
	});

	test('it is removed as the guide says, and the first one stays', async () => {
		const { machine, site, second } = it;
		await second.close();
		await machine.sh(guide('systemctl disable --now urlmode-b.target'));
		await machine.sh(guide('rm -rf /etc/systemd/system/urlmode-b'));
		await machine.sh(guide('systemctl daemon-reload && nginx -t'));
		assert.equal(await machine.sh("systemctl list-units --no-legend --all 'urlmode-b*'; find /run /etc -name 'urlmode-b[.@-]*' -o -name urlmode-b"), '');
		await site.connect();
		await allWell(machine);
	});
}
