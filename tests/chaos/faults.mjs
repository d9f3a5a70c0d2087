// The faults. Each is a function that breaks a part, waits, and repairs it. All of them can
// happen in production; no fault changes a row.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { familyOf } from '../support/processes.mjs';
import { LOAD_FAULTS } from './faults-load.mjs';
import { NETWORK_FAULTS } from './faults-network.mjs';

const run = promisify(execFile);

export const PROGRAMS = ['connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'webhook', 'status', 'api'];

/** Longer than a program waits for its database. */
const LONG = 4_000;
const SHORT = 1_000;
const HOUR = 3_600;

/** Sends a signal to each process; one that is gone meanwhile is what the fault wants. */
function signal(family, name) {
	for (const { pid } of family) {
		try {
			process.kill(pid, name);
		} catch (error) {
			if (error.code !== 'ESRCH') throw error;
		}
	}
}

/** The processes of a service, without the supervisor of a program. */
async function workers({ stack }, name) {
	const [, ...rest] = await familyOf(await stack.pid(name));
	return rest;
}

async function freeze(family) {
	signal(family, 'SIGSTOP');
	await sleep(LONG);
	signal(family, 'SIGCONT');
}

const each = (list, act) => Promise.all(list.map(act));

/** @type {Record<string, (lab: import('./lab.mjs').Lab) => Promise<unknown>>} */
export const FAULTS = {
	'programs killed': (lab) => each(PROGRAMS, async (name) => signal(await workers(lab, name), 'SIGKILL')),
	'programs terminated': (lab) => each(PROGRAMS, async (name) => signal(await workers(lab, name), 'SIGTERM')),
	'a program stopped': async (lab) => freeze(await workers(lab, lab.any(PROGRAMS))),
	'nginx workers killed': async (lab) => signal(await workers(lab, 'nginx'), 'SIGKILL'),
	'nginx workers stopped': async (lab) => freeze(await workers(lab, 'nginx')),
	'nginx workers terminated': async (lab) => signal(await workers(lab, 'nginx'), 'SIGTERM'),
	'nginx reloaded': async ({ stack }) => process.kill(await stack.pid('nginx'), 'SIGHUP'),

	'backends terminated': (lab) => lab.sql(
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('urlmode_cgi', 'urlmode_server')"),
	'PostgreSQL stopped': async (lab) => freeze(await lab.database.family()),
	'PostgreSQL terminated': (lab) => lab.database.restart('SIGINT'),
	'PostgreSQL restarted at once': (lab) => lab.database.restart('SIGQUIT'),
	'PostgreSQL killed': (lab) => lab.database.restart('SIGKILL'),
	'the table locked': (lab) => lab.holding('LOCK TABLE urlmode.elicitation', LONG),
	'rows locked': (lab) => lab.holding("SELECT FROM urlmode.elicitation WHERE status <> 'completed' FOR UPDATE", LONG),

	'the disk of the data full': async ({ control }) => {
		control.setFull('data', true);
		await sleep(LONG);
		control.setFull('data', false);
	},
	'the disk of the WAL full': async ({ control, database }) => {
		control.setFull('wal', true);
		await sleep(LONG);
		control.setFull('wal', false);
		await database.ensure();
	},

	'descriptors used up': async (lab) => {
		const all = (await Promise.all(PROGRAMS.map((name) => workers(lab, name)))).flat();
		const as = await lab.stack.user();
		const limit = (pid, soft) => run('prlimit', ['--pid', String(pid), `--nofile=${soft}:`], as);
		await each(all, ({ pid }) => limit(pid, 1));
		await FAULTS['backends terminated'](lab);
		await sleep(LONG);
		// Those that were started again meanwhile have the old limit.
		await each(all, ({ pid }) => limit(pid, 1_024).catch(() => {}));
	},

	'clocks an hour ahead': async ({ control }) => {
		control.setClockAhead(HOUR);
		await sleep(LONG);
		control.setClockAhead(0);
	},
	'clocks an hour behind': async ({ control }) => {
		control.setClockAhead(-HOUR);
		await sleep(LONG);
		control.setClockAhead(0);
	},
	'clocks that jump': async (lab) => {
		for (let jumps = 0; jumps < 10; jumps += 1) {
			lab.control.setClockAhead(lab.any([-HOUR, -60, 0, 60, HOUR]));
			await sleep(LONG / 10);
		}
		lab.control.setClockAhead(0);
	},

	'a resolver that hangs': async (lab) => {
		lab.control.setResolverHangs(true);
		await FAULTS['backends terminated'](lab);
		await sleep(LONG);
		lab.control.setResolverHangs(false);
	},

	/** In the order that the documents say: below the others first, then on top. */
	'keys rotated': async ({ stack }) => {
		const file = stack.env.URLMODE_KEYS_FILE;
		const lines = (await readFile(file, 'utf8')).trim().split('\n');
		const kids = lines.map((line) => Number.parseInt(line, 10));
		const added = `${(Math.max(...kids) + 1) % 256} ${randomBytes(32).toString('base64')}`;
		const write = async (all) => {
			await writeFile(`${file}.new`, `${all.join('\n')}\n`, { mode: 0o600 });
			await copyOwner(stack, `${file}.new`);
			await rename(`${file}.new`, file);
			await sleep(2 * SHORT);
		};
		await write([...lines, added]);
		await write([added, ...lines]);
	},
	'logs rotated': async (lab) => {
		const folder = path.join(lab.stack.runDir, 'log');
		for (const name of await readdir(folder)) {
			if (!name.endsWith('.1')) await rename(path.join(folder, name), path.join(folder, `${name}.1`));
		}
		process.kill(await lab.stack.pid('nginx'), 'SIGUSR1');
		await each(PROGRAMS, async (name) => signal(await workers(lab, name), 'SIGHUP'));
	},
	'binaries replaced': async (lab) => {
		for (const name of PROGRAMS) {
			const file = path.join(lab.programs, name);
			await copyFile(file, `${file}.new`);
			await rename(`${file}.new`, file);
			signal(await workers(lab, name), 'SIGTERM');
			await sleep(SHORT / 4);
		}
	},

	'connections of browsers reset': (lab) => lab.resetting([lab.toNginx]),
	'connections of browsers slow': (lab) => lab.slowly([lab.toNginx]),
	'connections to the api reset': (lab) => lab.resetting([lab.toApi]),
	'connections to the api slow': (lab) => lab.slowly([lab.toApi]),
	'connections to PostgreSQL reset': (lab) => lab.resetting([lab.toDatabase]),
	'connections to programs reset': (lab) => lab.resetting(lab.toPrograms),
	'connections to PostgreSQL slow': (lab) => lab.slowly([lab.toDatabase]),
	'connections to programs slow': (lab) => lab.slowly(lab.toPrograms),
	...NETWORK_FAULTS,
	...LOAD_FAULTS,
};

/** The stack's user owns what the stack reads. */
async function copyOwner(stack, file) {
	const { uid, gid } = await stack.user();
	if (uid !== undefined) await run('chown', [`${uid}:${gid}`, file]);
}
