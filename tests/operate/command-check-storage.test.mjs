// urlmode check: the file systems of the database, where it runs on this host.

import assert from 'node:assert/strict';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

import { check, checkedStack, finds, inStack, IS_ROOT, reportOf, sql, stack, undo } from '../support/checked-stack.mjs';

checkedStack('operate-command-storage');

/** What df says of a directory. */
const disks = (text) => {
	undo.push(() => rm(inStack('systemd/disks')));
	return writeFile(inStack('systemd/disks'), text);
};

const dataDirectory = async () => (await stack.sql('SHOW data_directory'))[0].data_directory;

async function giveToStack(folder) {
	if (IS_ROOT) {
		const { uid, gid } = await stack.user();
		await chown(folder, uid, gid);
	}
}

/** A table space of its own, and its directory. */
async function tableSpace() {
	const folder = inStack('space');
	await mkdir(folder);
	undo.push(() => rm(folder, { recursive: true }));
	await giveToStack(folder);
	await sql(`CREATE TABLESPACE other LOCATION '${folder}'`, 'DROP TABLESPACE other');
	return folder;
}

test('a table space that is nearly full', async () => {
	const folder = await tableSpace();
	await disks(`${folder} /dev/b 9000000 8400000 600000 94% /mnt/b\n`);
	await finds('storage', 'warning', new RegExp(`^the file system of the table space other, ${folder}, has 585 MB left, 6 %$`));
	await disks(`${folder} /dev/b 9000000 9000000 0 100% /mnt/b\n`);
	undo.pop();
	await finds('storage', 'error', /the table space other, .* has 0 MB left, 0 %$/);
});

test('the file system of the data directory, which has the write-ahead log too, is told once', async () => {
	const data = await dataDirectory();
	await disks(`${data} /dev/a 90000000 89000000 1000000 99% /srv\n${data}/pg_wal /dev/a 90000000 89000000 1000000 99% /srv\n`);
	await finds('storage', 'warning', new RegExp(`^the file system of the data directory, ${data}, has 976 MB left, 1 %$`));
});

test('five percent of a large disk are enough', async () => {
	await disks(`${await dataDirectory()} /dev/a 9000000000 8550000000 450000000 95% /\n`);
	assert.equal((await reportOf(['storage'])).status, 'ok');
});

test('with the df of this machine: a directory that is not there any more is a finding', async () => {
	const folder = await tableSpace();
	await rename(inStack('systemd/df'), inStack('systemd/fd'));
	undo.push(() => rename(inStack('systemd/fd'), inStack('systemd/df')));
	const found = async () => (await reportOf(['storage'])).findings.filter(({ check: name }) => name === 'storage').map(({ severity, message }) => `${severity}: ${message}`);

	const before = await found();
	assert.ok(before.length > 0 && !before.some((line) => /skipped|cannot be seen/.test(line)), before);
	await rename(folder, `${folder} elsewhere`);
	undo.push(() => rename(`${folder} elsewhere`, folder));
	assert.ok((await found()).includes(`warning: it cannot be seen how much room the table space other has, ${folder}`));
});

test('a copy of the directory is not taken for it, and what cannot be seen is skipped', async () => {
	const [folder, copy] = [inStack('look'), inStack('copy')];
	undo.push(() => Promise.all([folder, copy].map((each) => rm(each, { recursive: true }))));
	await Promise.all([mkdir(folder), mkdir(copy)]);
	const original = await readFile(path.join(await dataDirectory(), 'postmaster.pid'), 'utf8');
	await writeFile(path.join(folder, 'readlink'), `#!/bin/sh\ncase $* in */proc/*/cwd) echo '${copy}' ;; *) exec /bin/readlink "$@" ;; esac\n`);
	await chmod(path.join(folder, 'readlink'), 0o755);
	const PATH = `${folder}:${inStack('systemd')}:${process.env.PATH}`;
	const other = (line, text) => original.split('\n').map((each, at) => (at === line - 1 ? text : each)).join('\n');

	await finds('storage', 'skipped', /cannot be seen from here/, { PATH });
	for (const text of [other(4, '1'), other(1, '1'), '']) {
		await writeFile(path.join(copy, 'postmaster.pid'), text);
		await finds('storage', 'skipped', /cannot be seen from here/, { PATH });
	}
	await writeFile(path.join(copy, 'postmaster.pid'), original);
	assert.equal((await check(['--only', 'storage'], { PATH })).status, 0);
});
