// The ways to give the programs a password that is not in the URL, as nginx/DATABASE.md has
// them, under systemd: the programs connect, and `urlmode check` does as they do.

import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { allWell } from './check.mjs';
import { configure } from './walk.mjs';

const FOLDER = '/etc/systemd/system/urlmode@.service.d';
const WAYS = {
	'a password file that database_url names': { query: 'passfile=/etc/urlmode/pgpass' },
	'PGPASSFILE, beside a variable of several words': { unit: 'Environment=PGPASSFILE=/etc/urlmode/pgpass "PGOPTIONS=-c application_name=own -c work_mem=4MB"' },
	'a service file': { unit: 'Environment=PGSERVICEFILE=/etc/urlmode/services', url: 'service=callbacks passfile=/etc/urlmode/pgpass' },
	'PGPASSWORD in a file of root': { unit: 'EnvironmentFile=/etc/urlmode/secrets.env' },
	'peer, by the unix socket': { url: 'postgresql://urlmode_cgi@/urlmode?host=/run/postgresql' },
};

/** As DATABASE.md says it, for all ways. */
function prepare(password) {
	return `install -m 600 -o urlmode -g urlmode /dev/null /etc/urlmode/pgpass
		echo '127.0.0.1:5432:urlmode:urlmode_cgi:${password}' >/etc/urlmode/pgpass
		printf '[callbacks]\\nhost=127.0.0.1\\nport=5432\\ndbname=urlmode\\nuser=urlmode_cgi\\n' >/etc/urlmode/services
		chown root:urlmode /etc/urlmode/services; chmod 640 /etc/urlmode/services
		install -m 600 /dev/null /etc/urlmode/secrets.env
		echo 'PGPASSWORD=${password}' >/etc/urlmode/secrets.env
		cd /etc/postgresql/*/main
		cp -p pg_hba.conf pg_hba.kept
		echo 'local urlmode urlmode_cgi peer map=urlmode' | cat - pg_hba.kept >pg_hba.conf
		echo 'urlmode urlmode urlmode_cgi' >>pg_ident.conf
		systemctl reload 'postgresql@*'`;
}

export function ways(it) {
	const file = () => it.machine.file('etc/urlmode/config.json');

	const restart = async (lines) => {
		await it.machine.sh(`${lines}
			systemctl daemon-reload
			systemctl restart 'urlmode@*.service'`);
		await it.site.serves();
	};

	for (const [what, { query, unit = '', url }] of Object.entries(WAYS)) {
		test(what, async () => {
			const kept = readFileSync(file());
			const { password } = new URL(JSON.parse(kept).database_url);
			await it.machine.sh(prepare(password));
			configure(it.machine, (config) => {
				config.database_url = url ?? config.database_url.replace(/:[^:@/]+@/, '@') + (query ? `?${query}` : '');
			});
			try {
				await restart(`mkdir ${FOLDER}; printf '[Service]\\n%s\\n' '${unit}' >${FOLDER}/tests.conf`);
				await it.site.connect();
				await allWell(it.machine);
			} finally {
				writeFileSync(file(), kept);
				await restart(`rm -r ${FOLDER}; cd /etc/postgresql/*/main; mv pg_hba.kept pg_hba.conf`);
			}
		});
	}
}
