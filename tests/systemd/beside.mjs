// What an operator can do beside the guide, as other documents have it: leave out a program,
// scrape the metrics, and run the programs as plain CGI.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

import { ROOT, freePorts, scratch } from '../stack/harness.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';
import { allWell } from './check.mjs';
import { HOST } from './site.mjs';

/** Another address of this machine, by which the host is reached from it as from elsewhere. */
const ADDRESS = '192.0.2.10';

/** The job of nginx/monitoring/README.md, and a Prometheus that has nothing else. */
async function startPrometheus(ca) {
	const folder = await scratch('systemd-prometheus');
	const [, job] = /```yaml\nrule_files:[^]*?(scrape_configs:[^]*?)```/.exec(readFileSync(path.join(ROOT, 'nginx/monitoring/README.md'), 'utf8'));
	const [port] = await freePorts(1);
	await writeFile(path.join(folder, 'prometheus.yml'), `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [alerts.yml]\n${job}`);
	await writeFile(path.join(folder, 'alerts.yml'), readFileSync(path.join(ROOT, 'nginx/monitoring/alerts.yml')));
	await writeFile(path.join(folder, 'ca.pem'), ca);
	await writeFile(path.join(folder, 'hosts'), `127.0.0.1 localhost\n${ADDRESS} ${HOST}\n`);
	const child = spawn('unshare', ['--mount', 'sh', '-euc', 'mount --bind hosts /etc/hosts; exec prometheus --config.file=prometheus.yml \\\n'
		+ `--storage.tsdb.path=data --web.listen-address=127.0.0.1:${port} --log.level=error`],
	{ cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, SSL_CERT_FILE: path.join(folder, 'ca.pem') } });
	const query = async (expression) => {
		const { body } = await request(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`).catch(() => ({}));
		return body && JSON.parse(body).data?.result[0]?.value[1];
	};
	return { query, stop: () => Promise.all([once(child, 'exit'), child.kill('SIGKILL')]) };
}

export function beside(it) {
	test('a program that no provider needs can be masked: nothing is missing then', async () => {
		const { machine, site } = it;
		await machine.sh('systemctl mask --now urlmode@form.service urlmode@form.socket');
		try {
			await site.serves();
			await allWell(machine);
		} finally {
			await machine.sh('systemctl unmask urlmode@form.service urlmode@form.socket && systemctl start urlmode@form.service');
		}
	});

	test('the job of Prometheus that is documented is refused, and works with the line that is documented', async () => {
		const { machine, authority } = it;
		const prometheus = await startPrometheus(authority.certificate);
		const up = (value) => until(`up is ${value}`, async () => await prometheus.query('up{job="urlmode"}') === value, { timeout: 120_000, every: 500 });
		try {
			await up('0');
			await machine.sh(`sed -i 's/# allow ${ADDRESS};/allow ${ADDRESS};/' /etc/nginx/urlmode/monitoring.conf && nginx -t -q && systemctl reload nginx`);
			await up('1');
			assert.equal(await prometheus.query('sum(urlmode_database_up)'), '1');
			assert.equal(await prometheus.query('count(ALERTS{alertstate="firing"})'), undefined);
		} finally {
			await prometheus.stop();
		}
	});

	test('plain CGI by fcgiwrap, as a user whom the web server is not: the files stay as they are', async () => {
		const { machine, site } = it;
		await machine.sh(`systemctl stop urlmode.target
			cd /usr/share/doc/urlmode/nginx/others/fcgiwrap
			mkdir -p /etc/nginx/urlmode/fastcgi.d
			cp fcgiwrap.conf /etc/nginx/urlmode/fastcgi.d/
			cp upstreams.conf /etc/nginx/urlmode/
			mkdir /etc/systemd/system/fcgiwrap.service.d /etc/systemd/system/fcgiwrap.socket.d
			printf '[Service]\\nUser=urlmode\\nGroup=urlmode\\n' >/etc/systemd/system/fcgiwrap.service.d/override.conf
			printf '[Socket]\\nSocketUser=root\\nSocketGroup=www-data\\nSocketMode=0660\\n' >/etc/systemd/system/fcgiwrap.socket.d/override.conf
			systemctl daemon-reload
			systemctl stop fcgiwrap.service
			systemctl restart fcgiwrap.socket
			nginx -t -q && systemctl restart nginx`);
		try {
			await site.connect();
			await site.pay();
			assert.equal(await machine.sh('stat -c "%a %U %G" /etc/urlmode/keys /etc/urlmode/config.json'), '640 root urlmode\n640 root urlmode\n');
			assert.notEqual((await machine.run('runuser', '-u', 'www-data', '--', 'cat', '/etc/urlmode/keys')).status, 0);
			assert.notEqual((await machine.run('runuser', '-u', 'nobody', '--', 'curl', '-s', '--unix-socket', '/run/fcgiwrap.socket', 'http://x/')).status, 0);
		} finally {
			await machine.sh(`rm -r /etc/systemd/system/fcgiwrap.*.d /etc/nginx/urlmode/fastcgi.d
				cp /usr/share/urlmode/nginx/urlmode/upstreams.conf /etc/nginx/urlmode/
				systemctl daemon-reload
				systemctl stop fcgiwrap.service fcgiwrap.socket
				systemctl start urlmode.target
				systemctl restart nginx`);
			await site.serves();
		}
	});

	test('plain CGI as the web server\'s user, with a group that has these two files alone', async () => {
		const { machine, site } = it;
		await machine.sh(`systemctl stop urlmode.target
			cd /usr/share/doc/urlmode/nginx/others/fcgiwrap
			mkdir -p /etc/nginx/urlmode/fastcgi.d
			cp fcgiwrap.conf /etc/nginx/urlmode/fastcgi.d/
			cp upstreams.conf /etc/nginx/urlmode/
			groupadd urlmode-cgi
			usermod -a -G urlmode-cgi www-data
			chgrp urlmode-cgi /etc/urlmode/keys /etc/urlmode/config.json
			echo 'z /etc/urlmode 0751' >/etc/tmpfiles.d/urlmode-cgi.conf
			systemd-tmpfiles --create
			systemctl stop fcgiwrap.service
			systemctl restart fcgiwrap.socket nginx`);
		try {
			await site.connect();
			assert.notEqual((await machine.run('runuser', '-u', 'www-data', '--', 'cat', '/etc/urlmode/operator.env')).status, 0);
		} finally {
			await machine.sh(`chgrp urlmode /etc/urlmode/keys /etc/urlmode/config.json
				gpasswd -d www-data urlmode-cgi
				rm /etc/tmpfiles.d/urlmode-cgi.conf
				systemd-tmpfiles --create
				rm -r /etc/nginx/urlmode/fastcgi.d
				cp /usr/share/urlmode/nginx/urlmode/upstreams.conf /etc/nginx/urlmode/
				systemctl stop fcgiwrap.service fcgiwrap.socket
				systemctl start urlmode.target
				systemctl restart nginx`);
			await site.serves();
		}
	});
}
