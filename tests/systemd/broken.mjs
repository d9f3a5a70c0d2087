// One thing after the other that an operator finds broken, on the machine where all is well:
// `urlmode check` names it, and blames nothing else.

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../support/wait.mjs';
import { allWell, check } from './check.mjs';

const CONFIG = 'etc/urlmode/config.json';
const KEYS = 'etc/urlmode/keys';
const psql = (text) => `runuser -u postgres -- psql -q -d urlmode -c "${text}"`;
const wait = (unit, state) => `for times in $(seq 600); do systemctl show ${unit} | grep -qx "${state}" && break; sleep 0.2; done`;

/** A drop-in of a unit, with its unit started again. */
const dropIn = (unit, text) => `mkdir -p /etc/systemd/system/${unit}.d
	printf '%s\\n' ${text.split('\n').map((line) => `'${line}'`).join(' ')} >/etc/systemd/system/${unit}.d/tests.conf
	systemctl daemon-reload; systemctl restart ${unit} || :`;
const noDropIn = (unit) => `rm -r /etc/systemd/system/${unit}.d; systemctl daemon-reload; systemctl reset-failed; systemctl restart ${unit}`;

/** A change of a file from outside, which is undone with its owner and mode. */
const changed = (file, change) => ({
	break: ({ machine }) => {
		copyFileSync(machine.file(file), `${machine.folder}.kept`);
		writeFileSync(machine.file(file), change(readFileSync(machine.file(file), 'utf8')));
	},
	mend: ({ machine }) => writeFileSync(machine.file(file), readFileSync(`${machine.folder}.kept`)),
});
const config = (change) => changed(CONFIG, (text) => {
	const object = JSON.parse(text);
	change(object);
	return JSON.stringify(object);
});
const mode = (file, wrong, right) => ({ break: `chmod ${wrong} /${file}`, mend: `chmod ${right} /${file}` });

const GROUPS = {
	'the configuration and the keys': [
		['a key of the configuration that there is none of', { ...config((object) => { object.colour = 'blue'; }),
			finds: ['configuration', /config\.json: \/colour: /] }],
		['a configuration that the programs cannot read', { ...mode(CONFIG, '600', '640'), finds: ['configuration', /Permission denied/] }],
		['a configuration that everybody can read', { ...mode(CONFIG, 'o+r', 'o-r'), finds: ['configuration', /others may read or write it/] }],
		['a keys file that everybody can read', { ...mode(KEYS, 'o+r', 'o-r'), finds: ['configuration', /keys: others may read or write it/] }],
		['a keys file that the programs can change', { ...mode(KEYS, '660', '640'), finds: ['permissions', /keys has mode 660/] }],
		['a short key', { ...changed(KEYS, (text) => text.replace(/^(\d+) \S{8}/, '$1 ')), finds: ['configuration', /keys:1: /] }],
		['a key that has sealed for years', { ...changed(KEYS, (text) => text.replaceAll(/^# 20\d\d/gm, '# 2020')),
			finds: ['keys', /has sealed for \d+ days/, 'warning'] }],
		['an MCP server with other keys', { break: "echo '9 '$(openssl rand -base64 32) >/root/server-keys", mend: ({ site }) => site.copyKeys(),
			finds: ['server_keys', /server-keys seals with key 9, which .* does not have/] }],
		['a description with a mistake', { ...config(({ providers }) => { providers.own = { kind: 'payment', description: '/etc/hostname', secrets: ['s'] }; }),
			finds: ['configuration', /\/etc\/hostname/] }],
		['a password of the operator that everybody can read', { ...mode('etc/urlmode/operator.env', '644', '600'), finds: ['permissions', /operator\.env has mode 644/] }],
	],
	'the database': [
		['a wrong password', { ...config((object) => { object.database_url = object.database_url.replace(/:[^:@]+@/, ':wrong@'); }),
			finds: ['database', /password authentication failed for user "urlmode_cgi"/], also: ['loaded'] }],
		['no such database', { ...config((object) => { object.database_url = object.database_url.replace(/urlmode$/, 'nothing'); }),
			finds: ['database', /database "nothing" does not exist|permission denied for database/], also: ['loaded'] }],
		['a role that may only read', { break: psql('ALTER ROLE urlmode_cgi SET default_transaction_read_only = on'),
			mend: psql('ALTER ROLE urlmode_cgi RESET default_transaction_read_only'), finds: ['database', /default_transaction_read_only is on for urlmode_cgi/] }],
		['a migration that was not applied', { break: psql("UPDATE urlmode.migration SET name = replace(name, '013', '913') WHERE name LIKE '013%'"),
			mend: psql("UPDATE urlmode.migration SET name = replace(name, '913', '013') WHERE name LIKE '913%'"), finds: ['migrations', /does not have 013_/] }],
		['a full table space', { break: `mkdir /srv/small && mount -t tmpfs -o size=16m tmpfs /srv/small && install -d -o postgres -g postgres /srv/small/space
			${psql("CREATE TABLESPACE small LOCATION '/srv/small/space'")}; head -c 15m /dev/zero >/srv/small/full`,
		mend: `${psql('DROP TABLESPACE small')}; umount /srv/small && rmdir /srv/small`, finds: ['storage', /^the file system of the table space small, \/srv\/small\/space, has \d MB left/] }],
		['PostgreSQL that was stopped', { break: "systemctl stop 'postgresql@*'", mend: 'systemctl restart postgresql',
			finds: ['database', /Connection refused/], also: ['migrations', 'storage', 'deliveries', 'local', 'server'] }],
		['a synchronous standby that is missing', { break: `${psql("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'")}; ${psql('SELECT pg_reload_conf()')}`,
			mend: `${psql('ALTER SYSTEM RESET synchronous_standby_names')}; ${psql('SELECT pg_reload_conf()')}`, finds: ['walk', /commits hang: .*\(nowhere\)$/], also: ['local'] }],
		['a table that somebody has locked', { break: `systemd-run -q --unit=locker runuser -u postgres -- psql -q -d urlmode -c 'BEGIN; LOCK TABLE urlmode.form; SELECT pg_sleep(600)'
			timeout 30 sh -c "until runuser -u postgres -- psql -q -A -t -d urlmode -c \\"SELECT 'locked' FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted\\" | grep -q locked; do sleep 0.1; done"`,
		mend: `systemctl stop locker; ${psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%' AND pid <> pg_backend_pid()")}`,
		finds: ['schema', /^it cannot be compared: the table form is locked/], also: ['walk', 'sign_in', 'local'] }],
		['a right that the programs have lost', { break: psql('REVOKE EXECUTE ON FUNCTION urlmode.answer_form_noted FROM urlmode_cgi'), mend: psql('GRANT EXECUTE ON FUNCTION urlmode.answer_form_noted TO urlmode_cgi'),
			finds: ['schema', /urlmode_cgi may not execute urlmode\.answer_form_noted$/] }],
		['a right that the programs must not have', { break: psql('GRANT EXECUTE ON FUNCTION urlmode.read TO urlmode_cgi'), mend: psql('REVOKE EXECUTE ON FUNCTION urlmode.read FROM urlmode_cgi'),
			finds: ['schema', /urlmode_cgi may execute urlmode\.read$/] }],
		['an index that was dropped', { break: psql('DROP INDEX urlmode.elicitation_checkout'), mend: psql('CREATE INDEX elicitation_checkout ON urlmode.elicitation (provider, checkout) WHERE checkout IS NOT NULL'),
			finds: ['schema', /the index urlmode\.elicitation_checkout is missing$/] }],
		['a password of the MCP servers that was changed', { break: `cp -p /etc/urlmode/server.env /root/kept && sed -i 's/:[^:@]*@/:wrong@/' /etc/urlmode/server.env`, mend: 'cp -p /root/kept /etc/urlmode/server.env',
			finds: ['server', /password authentication failed for user "urlmode_server"/] }],
	],
	'what runs': [
		['a target that does not start at boot', { break: 'systemctl disable -q urlmode.target', mend: 'systemctl enable -q urlmode.target', finds: ['units', /^urlmode\.target is not enabled/] }],
		['a secret that no program has loaded', { ...config((object) => { object.providers.github.display_name = 'Another'; }), finds: ['loaded', /has changed since these programs started/] }],
		['a configuration of nginx that it has not loaded', { break: "echo '# own' >/etc/nginx/conf.d/own.conf", mend: 'rm /etc/nginx/conf.d/own.conf',
			finds: ['nginx', /^it runs another configuration than the one on disk: .*own\.conf$/] }],
		['a program that systemd cannot start', { break: dropIn('urlmode@webhook.service', '[Service]\nExecStart=\nExecStart=/usr/lib/urlmode/nothing\nRestart=no'), mend: noDropIn('urlmode@webhook.service'),
			finds: ['units', /^urlmode@webhook\.service has failed: .*(Failed at step EXEC|status=203\/EXEC)/], also: ['answers', 'local'] }],
		['a program that ends at each start', { break: `${dropIn('urlmode@webhook.service', '[Service]\nEnvironment=URLMODE_CONFIG=/etc/urlmode/none.json')}
			${wait('urlmode@webhook.service', 'NRestarts=[3-9].*')}`, mend: noDropIn('urlmode@webhook.service'),
		finds: ['units', /^urlmode@webhook\.service starts again and again: .*none\.json: No such file/], also: ['answers', 'local'], holds: pauses }],
		['a program that was stopped', { break: 'systemctl stop urlmode@status.service urlmode@status.socket', mend: 'systemctl start urlmode@status.service',
			finds: ['units', /^urlmode@status\.service does not run$/], also: ['sockets', 'local', 'answers', 'outside'] }],
		['a program that was masked, and is needed', { break: 'systemctl mask --now urlmode@webhook.service', mend: 'systemctl unmask urlmode@webhook.service && systemctl start urlmode@webhook.service',
			finds: ['units', /^urlmode@webhook\.service is masked, and is needed$/], also: ['sockets', 'answers', 'local'] }],
		['a program that was killed again and again', { break: `mkdir -p /etc/systemd/system/urlmode@webhook.service.d && printf '[Service]\\nRestartSec=50ms\\n' >/etc/systemd/system/urlmode@webhook.service.d/tests.conf && systemctl daemon-reload
			for i in 1 2 3; do kill -s KILL $(systemctl show -p MainPID --value urlmode@webhook.service); ${wait('urlmode@webhook.service', 'NRestarts=$i')}; ${wait('urlmode@webhook.service', 'SubState=running')}; done`,
		mend: `${noDropIn('urlmode@webhook.service')}`, finds: ['units', /^urlmode@webhook\.service (starts again and again|has been started again 3 times): .*status=9\/KILL$/, 'error|warning'] }],
		// systemd calls a service started before it executes the file.
		['a program file that was replaced', { break: `timeout 30 sh -c 'until [ "$(readlink /proc/$(systemctl show -P MainPID urlmode@webhook.service)/exe)" = /usr/lib/urlmode/webhook ]; do sleep 0.1; done'
			cp -p /usr/lib/urlmode/webhook /usr/lib/urlmode/new && mv /usr/lib/urlmode/new /usr/lib/urlmode/webhook`, mend: 'systemctl restart urlmode@webhook.service',
			finds: ['units', /^urlmode@webhook\.service runs a program that has been replaced/, 'warning'] }],
		['a library that was upgraded under the programs', { break: `library=$(readlink -f "$(ldd /usr/lib/urlmode/webhook | sed -n 's/^.*libjansson.* => \\(.*\\) (.*/\\1/p')")
			cp -p "$library" "$library.new" && mv "$library.new" "$library"`, mend: "systemctl restart 'urlmode@*.service'", finds: ['units', /^an upgrade has replaced libraries that run: urlmode@connect\.service \(libjansson\.so\.\S+\); /, 'warning'] }],
		['nginx that was stopped', { break: 'systemctl stop nginx', mend: 'systemctl start nginx', finds: ['units', /^nginx\.service does not run$/], also: ['local', 'certificate', 'outside'] }],
		['nginx that could not start again', { break: "echo 'nothing;' >/etc/nginx/conf.d/own.conf; systemctl restart nginx || :", mend: 'rm /etc/nginx/conf.d/own.conf; systemctl restart nginx',
			finds: ['units', /^nginx\.service has failed: .*unknown directive "nothing"/], also: ['nginx', 'local', 'certificate', 'outside'] }],
		// The journal then has nginx's line before that of the start.
		['nginx that could not start again, while the journal was late', { break: `echo 'nothing;' >/etc/nginx/conf.d/own.conf; journal=$(systemctl show -P MainPID systemd-journald)
			kill -STOP $journal; systemctl restart nginx || :; kill -CONT $journal; journalctl --sync`, mend: 'rm /etc/nginx/conf.d/own.conf; systemctl reset-failed nginx; systemctl restart nginx',
		finds: ['units', /^nginx\.service has failed: .*unknown directive "nothing"/], also: ['nginx', 'local', 'certificate', 'outside'] }],
		['a port of nginx that another server has', { break: `systemctl stop nginx; systemd-run -q --unit=other openssl s_server -accept 80 -nocert
			timeout 30 sh -c 'until ss -Hltn sport = :80 | grep -q .; do sleep 0.1; done'; systemctl start nginx || :`, mend: 'systemctl stop other; systemctl reset-failed nginx; systemctl restart nginx',
		finds: ['units', /^nginx\.service has failed: .*bind\(\) to \S+:80 failed \(98: /], also: ['local', 'certificate', 'outside'] }],
		['sockets of another group than nginx has', { break: `${dropIn('urlmode@webhook.socket', '[Socket]\nSocketGroup=daemon').replace('systemctl restart', 'systemctl stop urlmode@webhook.service; systemctl restart')}
			${dropIn('urlmode@connect.socket', '[Socket]\nSocketGroup=daemon').replace('systemctl restart', 'systemctl stop urlmode@connect.service; systemctl restart')}
			systemctl start urlmode@connect.service urlmode@webhook.service`,
		mend: `systemctl stop urlmode@connect.service urlmode@webhook.service; ${noDropIn('urlmode@webhook.socket')}; ${noDropIn('urlmode@connect.socket')}; systemctl start urlmode@connect.service urlmode@webhook.service`,
		finds: ['units', /^nginx's workers are www-data, who is not in the group daemon of the sockets$/], also: ['local', 'answers', 'sign_in'] }],
		['a socket that somebody has removed', { break: 'rm /run/urlmode/webhook.sock', mend: 'systemctl stop urlmode@webhook.service; systemctl restart urlmode@webhook.socket; systemctl start urlmode@webhook.service',
			finds: ['sockets', /^there is no socket \/run\/urlmode\/webhook\.sock$/], also: ['local', 'answers'] }],
		['a socket for everybody', { ...mode('run/urlmode/webhook.sock', '666', '660'), finds: ['sockets', /^every user can connect to .*webhook\.sock$/] }],
		['a purge that fails', { break: "cp -p /etc/urlmode/operator.env /root/kept && sed -i 's/:[^:@]*@/:wrong@/' /etc/urlmode/operator.env; systemctl start urlmode-purge.service || :; cp -p /root/kept /etc/urlmode/operator.env",
			mend: 'systemctl start urlmode-purge.service', finds: ['units', /^urlmode-purge\.service has failed: .*password authentication failed/] }],
		['a purge that nobody starts', { break: 'systemctl stop urlmode-purge.timer', mend: 'systemctl start urlmode-purge.timer', finds: ['units', /^urlmode-purge\.timer does not run/, 'warning'] }],
	],
	'nginx and the outside': [
		['a snippet that was changed', { break: 'cp /etc/nginx/urlmode/server.conf /root/kept; echo "# own" >>/etc/nginx/urlmode/server.conf', mend: 'cp /root/kept /etc/nginx/urlmode/server.conf; systemctl reload nginx',
			finds: ['snippets', /not as they come with this version: server\.conf$/, 'warning'], also: ['nginx'] }],
		['pages without the name of the site', { ...config((object) => { object.pages = { name: 'Example' }; }), finds: ['snippets', /^pages\.conf is not what this version makes of/, 'warning'], also: ['loaded'] }],
		['a site without the sign-in', { break: "sed -i 's/^.*auth-basic/#&/' /etc/nginx/sites-available/urlmode.conf && systemctl reload nginx", mend: "sed -i '/auth-basic/s/^#*//' /etc/nginx/sites-available/urlmode.conf && systemctl reload nginx",
			finds: ['sign_in', /^every user gets 500 \(sign_in_not_set_up\)/] }],
		['a sign-in without passwords', { break: 'mv /etc/nginx/urlmode.htpasswd /root/kept', mend: 'mv /root/kept /etc/nginx/urlmode.htpasswd',
			finds: ['sign_in', /^nobody can sign in: nginx asks for a password, and has no file of passwords$/] }],
		['passwords that nginx cannot read', { ...mode('etc/nginx/urlmode.htpasswd', '600', '644'),
			finds: ['sign_in', /^nobody can sign in: nginx asks for a password, and cannot read its file of passwords$/] }],
		['an oauth2-proxy that is down', { break: "sed -i 's/auth-basic/auth-request/' /etc/nginx/sites-available/urlmode.conf && systemctl reload nginx", mend: "sed -i 's/auth-request/auth-basic/' /etc/nginx/sites-available/urlmode.conf && systemctl reload nginx",
			finds: ['sign_in', /^nobody can sign in: nginx gets no answer from oauth2-proxy, and users get 500$/] }],
		['a certificate that has expired', { break: ({ machine, authority }) => certify(machine, authority, -1), mend: ({ machine, authority }) => certify(machine, authority, 90), finds: ['certificate', /^it has expired$/] }],
		['a certificate that ends in a week', { break: ({ machine, authority }) => certify(machine, authority, 7), mend: ({ machine, authority }) => certify(machine, authority, 90),
			finds: ['certificate', /^it ends within 7 days$/, 'warning'] }],
		['a certificate of another host', { break: ({ machine, authority }) => certify(machine, authority, 90, 'other.example.com'), mend: ({ machine, authority }) => certify(machine, authority, 90),
			finds: ['certificate', /^browsers will refuse it: .*[Hh]ostname mismatch/] }],
		['a name that leads nowhere', { break: "cp /etc/hosts /root/hosts && sed -i 's/ callback.example.com//' /etc/hosts", mend: 'cp /root/hosts /etc/hosts', finds: ['certificate', /^no TLS at callback\.example\.com:443/], also: ['outside'] }],
	],
};

async function certify(machine, authority, days, name) {
	authority.certify(machine, days, name);
	await machine.sh('nginx -t -q && systemctl reload nginx');
}

/** It is not started again at once, so that it fills no journal. */
async function pauses({ machine }) {
	const lines = (await machine.sh('journalctl -u urlmode@webhook.service -o json')).trim().split('\n').map((line) => JSON.parse(line));
	const starts = lines.flatMap(({ MESSAGE: text }, index) => (/Scheduled restart job/.test(text) ? [index] : [])).slice(-3);
	assert.equal(starts.length, 3);
	for (const [i, start] of starts.slice(1).entries()) {
		const microseconds = lines[start].__MONOTONIC_TIMESTAMP - lines[starts[i]].__MONOTONIC_TIMESTAMP;
		assert.ok(microseconds >= 5_000_000, `started again after ${microseconds} us`);
		assert.ok(start - starts[i] <= 8, `${start - starts[i]} lines for each start`);
	}
}

/** The steps of a row: a shell's lines, or a function. */
const take = (it, step) => (typeof step === 'string' ? it.machine.sh(step) : step(it));

export function broken(it) {
	for (const [group, rows] of Object.entries(GROUPS)) {
		describe(group, () => {
			for (const [what, row] of rows) {
				test(what, async () => {
					const [name, message, severity = 'error'] = row.finds;
					await take(it, row.break);
					try {
						const found = (await check(it.machine)).findings.filter((each) => each.severity !== 'ok');
						const first = found.find((each) => each.check === name);
						assert.ok(first, JSON.stringify(found));
						assert.match(first.severity, new RegExp(`^(${severity})$`));
						assert.match(first.message, message);
						assert.notEqual(first.advice, '');
						const others = new Set(found.map((each) => each.check).filter((each) => each !== name));
						assert.deepEqual([...others].filter((each) => !row.also?.includes(each)), [], JSON.stringify(found));
						await row.holds?.(it);
					} finally {
						await take(it, row.mend);
						await it.site.serves();
					}
				});
			}
		});
	}

	test('mended, nothing is wrong', () => allWell(it.machine));
}
