// urlmode check: keys and connection that the programs have from the environment.

import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { changeConfig, check, checkedStack, finds, inStack, IS_ROOT, report, reportOf, stack, undo } from '../support/checked-stack.mjs';
import { noteArguments, urlmode } from '../support/command.mjs';
import { BIN, PROGRAMS } from '../security/deployment.mjs';
import { ROOT, scratch } from '../stack/harness.mjs';

let keys;
let url;

// The programs, with the variables that programs.env in the stack's directory sets, once it is there.
before(async () => {
	const folder = await scratch('command-environment');
	await Promise.all(PROGRAMS.map((name) => writeFile(path.join(folder, name),
		`#!/bin/sh\n[ ! -e programs.env ] || . ./programs.env\nexec '${BIN}/${name}'\n`, { mode: 0o755 })));
});

checkedStack('operate-command-environment', async () => {
	keys = (await readFile(stack.env.URLMODE_KEYS_FILE, 'utf8')).trim().replaceAll('\n', ',');
	url = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8')).database_url;
}, { PROGRAM_DIR: path.join(ROOT, 'build/test/scratch/command-environment') });

const withoutSecrets = () => changeConfig((config) => {
	delete config.keys_file;
	delete config.database_url;
});

/** The programs run with a configuration without secrets, and have those of their environment. */
async function startWithoutSecrets() {
	undo.push(() => stack.service('restart', ...PROGRAMS), () => rm(inStack('programs.env')));
	await writeFile(inStack('programs.env'), `export URLMODE_KEYS='${keys}' URLMODE_CGI_DATABASE_URL='${url}'\n`);
	await withoutSecrets();
	await stack.service('restart', ...PROGRAMS);
}

const found = async (name, more) => (await reportOf([name], more)).findings.filter((finding) => finding.check === name)
	.map(({ severity, message }) => `${severity}: ${message}`);

test('with units, the variables of whoever asks are not those of the programs', async () => {
	assert.equal((await report({ URLMODE_KEYS: '1 none', URLMODE_CGI_DATABASE_URL: 'postgresql://none@/none' })).status, 'ok');
});

test('a program that has another name for the configuration has the same one', async () => {
	undo.push(() => stack.service('restart', 'connect'), () => rm(inStack('programs.env')));
	await writeFile(inStack('programs.env'), `export URLMODE_CONFIG='${stack.runDir}/pid/../config.json'\n`);
	await stack.service('restart', 'connect');
	assert.deepEqual(await found('loaded'), ['ok: the programs have the configuration that is on disk']);
});

describe('without units, the programs have them where the command has them', () => {
	let more;

	before(async () => {
		await mkdir(inStack('without'));
		await writeFile(inStack('without/systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
		more = { URLMODE_KEYS: keys, URLMODE_CGI_DATABASE_URL: url, PATH: `${inStack('without')}:${inStack('systemd')}:${process.env.PATH}` };
	});

	test('nothing is wrong then, and no secret is shown', async () => {
		await startWithoutSecrets();
		const { status, out, err } = await check([], more);
		assert.deepEqual([status, err], [0, ''], out);
		assert.match(out, /^ok +keys +key 1 of \d+ seals, of URLMODE_KEYS$/m);
		assert.match(out, /^ok +database +reached as urlmode_cgi$/m);
		assert.match(out, /^ok +sign_in /m);
		assert.match(out, /^ok +server_keys /m);
		assert.ok(!out.includes(keys.split(/[ ,]/)[1]));
	});

	test('keys that are not there are named', async () => {
		await withoutSecrets();
		await finds('configuration', 'error', /URLMODE_KEYS: no key in it/, { ...more, URLMODE_KEYS: '' });
	});

	test('a password of libpq is that of the programs', async () => {
		const { password } = new URL(url);
		await changeConfig((config) => { config.database_url = url.replace(/:[^:@/]+@/, '@'); });
		assert.deepEqual(await found('database', { PATH: more.PATH, PGPASSWORD: password }), ['ok: reached as urlmode_cgi']);
	});

	test('urlmode keys changes no file then', async () => {
		await withoutSecrets();
		const { status, out, err } = await urlmode(['keys', 'rotate'], { ...more, URLMODE_CONFIG: stack.env.URLMODE_CONFIG });
		assert.deepEqual([status, out], [1, '']);
		assert.match(err, /the keys are in URLMODE_KEYS, and in no file/);
	});
});

describe('Environment= of the units', () => {
	/** As systemctl shows it. */
	async function shown(text) {
		undo.push(() => rm(inStack('systemd/environment')));
		await writeFile(inStack('systemd/environment'), `URLMODE_CONFIG=/nonexistent.json ${text}\n`);
	}

	test('has a value of several words', async () => {
		await shown('"PGOPTIONS=-c enable_seqscan=on -c jit=on" "STAR=*" "OTHER=it\'s \\"a\\" \\$HOME \\`b\\` \\\\ c"');
		await finds('role', 'warning', /urlmode_cgi has not the settings of urlmode_cgi/);
	});

	test('has a password, which is no argument of a process', async () => {
		await changeConfig((config) => { config.database_url = url.replace(/:[^:@/]+@/, '@'); });
		const { password } = new URL(url);
		await shown(`"PGOPTIONS=-c application_name=own" PGPASSWORD=${password}`);
		undo.push(() => rm(inStack('noted'), { recursive: true }));
		const { PATH, notes } = await noteArguments(inStack('noted'), ['env', 'runuser', 'sh']);
		await writeFile(inStack('noted/notes'), '');
		await chmod(inStack('noted/notes'), 0o666); // for the user of the programs
		assert.deepEqual(await found('database', { PATH: `${inStack('noted')}:${inStack('systemd')}:${PATH}` }), ['ok: reached as urlmode_cgi']);
		assert.match(await notes(), /operate sql/);
		assert.ok(!(await notes()).includes(password));
	});
});

if (IS_ROOT) describe('EnvironmentFile= of the units', () => {
	/** Files of a drop-in, of which the last counts most. */
	async function files(...texts) {
		const lines = await Promise.all(texts.map(async (text, at) => {
			const file = inStack(`secrets${at}.env`);
			undo.push(() => rm(file));
			await writeFile(file, text, { mode: 0o600 });
			return `${file} (ignore_errors=no)\n`;
		}));
		undo.push(() => rm(inStack('systemd/environment-files')));
		await writeFile(inStack('systemd/environment-files'), lines.join(''));
	}

	test('has keys and connection: nothing is wrong', async () => {
		await startWithoutSecrets();
		await files("URLMODE_KEYS='1 none'\n", `URLMODE_KEYS='${keys}'\nURLMODE_CGI_DATABASE_URL='${url}'\n`);
		const { status, findings } = await report();
		assert.equal(status, 'ok', JSON.stringify(findings));
		assert.match(findings.find(({ check: name }) => name === 'keys').message, /^key 1 of \d+ seals, of URLMODE_KEYS$/);
	});

	test('has the password of libpq', async () => {
		await changeConfig((config) => { config.database_url = url.replace(/:[^:@/]+@/, '@'); });
		await files(`PGPASSWORD='${new URL(url).password}'\n`);
		assert.deepEqual(await found('database'), ['ok: reached as urlmode_cgi']);
	});

	test('that everybody can read', async () => {
		await files('PGAPPNAME=urlmode\n');
		await chmod(inStack('secrets0.env'), 0o644);
		await finds('permissions', 'error', /secrets0\.env has mode 644: every user has a right on it$/);
	});

	test('that is not there', async () => {
		await files('');
		await writeFile(inStack('systemd/environment-files'), '/nonexistent.env (ignore_errors=no)\n');
		await finds('configuration', 'error', /^systemd cannot make the environment of the programs, of \/nonexistent\.env: /);
	});
});
