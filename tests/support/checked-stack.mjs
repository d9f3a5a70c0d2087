// A stack with TLS on which urlmode check finds nothing wrong, and what breaks one thing of it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile, readdir, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before } from 'node:test';

import { asUser, RELEASE, urlmode } from './command.mjs';
import { startStack } from './stack.mjs';
import { configure } from '../security/deployment.mjs';
import { freePorts } from '../stack/harness.mjs';

export const IS_ROOT = process.getuid() === 0;

export let stack;
export let serverKeys;
/** What undoes a change, after its test. */
export const undo = [];
let port;
/** Whether a file of its configuration was written again, as it was. */
let nginxIsOlder = false;

export const inStack = (name) => path.join(stack.runDir, name);

/** Starts the stack before the tests of a file, does what they need `then`, and undoes what each has changed. */
export function checkedStack(name, then = () => {}, more = {}) {
	before(async () => {
		stack = await startStack({ name, env: more });
		[port] = await freePorts(1);
		serverKeys = inStack('server-keys');
		await cp(stack.env.URLMODE_KEYS_FILE, serverKeys);
		certify(30);
		const conf = await readFile(inStack('nginx.conf'), 'utf8');
		await writeFile(inStack('nginx.conf'), conf.replace(/\n}\s*$/, `
			server {
				listen 127.0.0.1:${port} ssl;
				ssl_certificate cert.pem;
				ssl_certificate_key cert.key;
				access_log off;
				include urlmode/server.conf;
			}
		}`));
		await rm(inStack('urlmode'));
		await cp(new URL('../../nginx/urlmode', import.meta.url), inStack('urlmode'), { recursive: true });
		await own();
		await stack.service('restart', 'nginx');
		await fakeSystemd();
		await configure(stack, (config) => {
			config.base_url = `https://localhost:${port}`;
			config.log_file = 'log/programs.log';
			// One of each kind, and the one with a certificate.
			const { demo, github, intake, stripe, paypal } = config.providers;
			config.providers = { demo, github, intake, stripe, paypal };
		});
		await then();
	});

	after(() => stack?.close());

	afterEach(async () => {
		for (const step of undo.splice(0).reverse()) {
			await step();
		}
		if (nginxIsOlder) await stack.service('restart', 'nginx');
		nginxIsOlder = false;
	});
}

/** What root has made is the stack's, and what only programs read is root's. */
export async function own() {
	if (IS_ROOT) {
		const { uid, gid } = await stack.user();
		const files = ['urlmode', 'cert.pem', 'cert.key', 'nginx.conf', 'server-keys'];
		const all = [...files, ...(await readdir(inStack('urlmode'))).map((name) => `urlmode/${name}`)].map(inStack);
		// One that is theirs already stays as nginx has read it.
		await Promise.all(all.map(async (file) => (await stat(file)).uid === uid || chown(file, uid, gid)));
		for (const file of [stack.env.URLMODE_CONFIG, stack.env.URLMODE_KEYS_FILE]) {
			await chown(file, 0, gid);
			await chmod(file, 0o640);
		}
	}
}

/** A systemctl and a journalctl for PATH: what is in a file of a unit's name, and otherwise that it runs. */
async function fakeSystemd() {
	await mkdir(inStack('systemd'));
	await writeFile(inStack('systemd/default'), 'LoadState=loaded\nUnitFileState=enabled\nActiveState=active\nSubState=running\nNRestarts=0\nMainPID=0\nExecMainStartTimestampMonotonic=0\n');
	// Without processes: a check asks it often.
	await writeFile(inStack('systemd/systemctl'), `#!/bin/sh
show()
{
	[ -e "\${0%/*}/$1" ] || return
	while IFS= read -r line; do
		printf '%s\\n' "$line"
	done <"\${0%/*}/$1"
}

case $* in
list-dependencies*) exit 0 ;;
*' Environment '*) show environment; exit 0 ;;
*' EnvironmentFiles '*) show environment-files; exit 0 ;;
*' IPAddressAllow '*) show address-allow; exit 0 ;;
*' IPAddressDeny '*) show address-deny; exit 0 ;;
esac
for unit; do :; done
show "$unit" || show default\n`, { mode: 0o755 });
	await fakeDf();
	await writeFile(inStack('systemd/systemd-run'), `#!/bin/sh
[ -n "$CLEAN" ] || exec env -i CLEAN=1 PATH="$PATH" "$0" "$@"
set -ae
while [ "$1" != -- ]; do
	case $1 in
	--uid=*) user=\${1#*=} ;;
	Environment=*) eval "\${1#*=}" ;;
	EnvironmentFile=*) . "\${1#*=}" ;;
	StandardInput=file:*) exec <"\${1#*:}" ;;
	StandardOutput=file:*) exec >"\${1#*:}" ;;
	StandardError=file:*) exec 2>"\${1#*:}" ;;
	esac
	shift
done
shift
exec runuser -u "$user" -- "$@"\n`, { mode: 0o755 });
	await writeFile(inStack('systemd/journalctl'), `#!/bin/sh
for unit; do :; done
cat "\${0%/*}/journal-$unit" 2>/dev/null || echo "urlmode: the last line"\n`, { mode: 0o755 });
}

/** A df for PATH, because the machine's own disk may be full: what the file disks says of a directory. */
async function fakeDf() {
	await writeFile(inStack('systemd/df'), `#!/bin/sh
for directory; do :; done
echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'
[ ! -e "\${0%/*}/disks" ] || while read -r place disk; do
	[ "$place" != "$directory" ] || { printf '%s\\n' "$disk"; exit; }
done <"\${0%/*}/disks"
echo '/dev/a disk 20000000 10000000 10000000  50% /'\n`, { mode: 0o755 });
}

/** What systemd says of a unit, where it is not as usual. */
export async function unit(name, changes) {
	const text = await readFile(inStack('systemd/default'), 'utf8');
	undo.push(() => unlink(inStack(`systemd/${name}`)));
	await writeFile(inStack(`systemd/${name}`), text.replaceAll(/^(\w+)=.*$/gm, (line, key) => (key in changes ? `${key}=${changes[key]}` : line)));
}

/** Makes the certificate of the stack's nginx, for so many days. */
export function certify(days, name = 'localhost') {
	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', String(days),
		'-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-keyout', inStack('cert.key'), '-out', inStack('cert.pem')], { stdio: 'ignore' });
}

export const env = (more) => ({
	URLMODE_CONFIG: stack.env.URLMODE_CONFIG, URLMODE_KEYS_FILE: serverKeys,
	URLMODE_OPERATOR_DATABASE_URL: stack.env.URLMODE_OPERATOR_DATABASE_URL, SSL_CERT_FILE: inStack('cert.pem'),
	PATH: `${inStack('systemd')}:${process.env.PATH}`, ...more,
});
export const check = (args = [], more = {}) => urlmode(['check', ...asUser(), '--nginx', stack.runDir, '--sockets', inStack('sock'), '--today', RELEASE, ...args], env(more));

/** The report, and the findings by check. */
export async function report(more, args = []) {
	const { status, out, err } = await check(['--json', ...args], more);
	assert.equal(err, '');
	const said = JSON.parse(out);
	assert.deepEqual(Object.keys(said), ['status', 'errors', 'warnings', 'skipped', 'findings']);
	assert.equal(status, { ok: 0, warning: 1, error: 2 }[said.status]);
	for (const [severity, count] of [['error', said.errors], ['warning', said.warnings], ['skipped', said.skipped]]) {
		assert.equal(said.findings.filter((finding) => finding.severity === severity).length, count);
	}
	return said;
}

/** The report of these checks alone, which takes a fraction of the time. */
export const reportOf = (names, more) => report(more, ['--only', names.join()]);

/** Whether each finding of a report is as expected, [check, severity, message]: all of a check that is named and in their order, and each with advice. */
function compare(said, expected) {
	for (const name of new Set(expected.map(([each]) => each))) {
		const wrong = said.findings.filter((each) => each.check === name && each.severity !== 'ok');
		const wanted = expected.filter(([each]) => each === name);
		assert.deepEqual(wrong.map(({ severity }) => severity), wanted.map(([, severity]) => severity), `${name}: ${JSON.stringify(said.findings)}`);
		for (const [i, [, severity, message]] of wanted.entries()) {
			assert.match(wrong[i].message, message);
			assert.notEqual(wrong[i].advice, '');
			if (severity !== 'skipped') {
				assert.equal(said.status === 'error' ? 'error' : severity, said.status);
			}
		}
	}
	return said;
}

/**
 * What is wrong in a report of the checks that are named alone. Of other checks nothing is said.
 *
 * @param {[string, string, RegExp][]} expected
 * @param {Record<string, string>} [more] of the environment
 * @param {string[]} [names] of the checks, where they have findings in the names of others
 * @returns the report
 */
export const findsAll = async (expected, more, names = expected.map(([name]) => name)) => compare(await reportOf([...new Set(names)], more), expected);

/** Of this check one finding of this severity, with this message and with advice. */
export const finds = (name, severity, message, more) => findsAll([[name, severity, message]], more);

/** The same in a report of everything, which goes on where a part that other checks need is missing. */
export const findsInWhole = async (expected, more) => compare(await report(more), expected);

/** What a report says of a check that finds nothing wrong. */
export function well({ findings }, name) {
	return findings.filter(({ check: each, severity }) => each === name && severity === 'ok').map(({ message }) => message);
}

export async function changeFile(file, change) {
	const text = await readFile(file, 'utf8');
	const { atime, mtime } = await stat(file);
	undo.push(async () => {
		await writeFile(file, text);
		await utimes(file, atime, mtime);
		nginxIsOlder ||= /\/(nginx\.conf|urlmode\/[^/]*)$/.test(file);
	});
	await writeFile(file, change(text));
}

export const changeConfig = (change) => changeFile(stack.env.URLMODE_CONFIG, (text) => {
	const config = JSON.parse(text);
	change(config);
	return JSON.stringify(config);
});

export async function changeMode(file, mode) {
	const before = (await stat(file)).mode & 0o777;
	undo.push(() => chmod(file, before));
	await chmod(file, mode);
}

export async function sql(text, back) {
	undo.push(() => stack.sql(back));
	await stack.sql(text);
}
