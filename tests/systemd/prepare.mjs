// What the machine of these tests is made of, while there is a network: a Debian that has
// what the guide asks for, and the package of urlmode, with a second one of a higher version.
// Debian is kept until `make clean`, or until this machine has other sources.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { sources } from '../install/debian.mjs';
import { ROOT, scratch } from '../stack/harness.mjs';

const [, RELEASE] = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'));
// What the guide asks for, and what the package depends on: the machine has no network.
const PACKAGES = ['systemd-sysv', 'nginx-light', 'postgresql', 'curl', 'openssl', 'ca-certificates', 'apache2-utils', 'fcgiwrap',
	'libfcgi0ldbl', 'libjansson4', 'libpq5'];
const FOLDER = path.join(ROOT, 'build/systemd');
const VERSION = execFileSync(path.join(ROOT, 'nginx/dist/version'), { encoding: 'utf8' }).trim();
const PACKAGE = path.join(ROOT, 'build/deb', `urlmode_${VERSION}_${execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()}.deb`);
const OPTIONS = { cwd: ROOT, maxBuffer: 1 << 26, env: { ...process.env, DEB_BUILD_OPTIONS: 'noautodbgsym', MAKEFLAGS: '', MAKELEVEL: '' } };

const execute = promisify(execFile);

async function debian() {
	const wanted = [RELEASE, ...PACKAGES, ...await sources()];
	const [archive, unfinished, list] = ['root.tar', 'new.tar', 'root.list'].map((name) => path.join(FOLDER, name));
	if (existsSync(archive) && existsSync(list) && readFileSync(list, 'utf8') === wanted.join('\n')) return;
	await execute('mmdebstrap', ['--variant=apt', '--dpkgopt=force-unsafe-io', '--dpkgopt=path-exclude=/usr/share/locale/*',
		`--include=${PACKAGES.join(',')}`, RELEASE, unfinished, ...wanted.slice(1 + PACKAGES.length)], OPTIONS);
	await rename(unfinished, archive);
	await writeFile(list, wanted.join('\n'));
}

/** The newest change of a file that the package is made of. */
const changed = () => Math.max(...['Makefile', 'README.md', 'cgi-bin', 'lib', 'nginx', 'sql'].flatMap((name) => {
	const place = path.join(ROOT, name);
	const entries = statSync(place).isFile() ? [] : readdirSync(place, { recursive: true, withFileTypes: true });
	return [place, ...entries.filter((entry) => entry.isFile() && !/\/(node_modules|types)(\/|$)/.test(entry.parentPath))
		.map((entry) => path.join(entry.parentPath, entry.name))];
}).map((file) => statSync(file).mtimeMs));

async function packages() {
	if (!existsSync(PACKAGE) || statSync(PACKAGE).mtimeMs < changed()) {
		await execute('make', ['deb'], OPTIONS);
	}
	const next = await scratch('systemd-next');
	await execute('dpkg-deb', ['-R', PACKAGE, next]);
	const control = path.join(next, 'DEBIAN/control');
	await writeFile(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `$&+next`));
	// Which has another unit, too.
	const { stdout: unit } = await execute('find', [next, '-name', 'urlmode@.service']);
	await appendFile(unit.trim(), '# next\n');
	await execute('dpkg-deb', ['-b', '-Znone', '--root-owner-group', next, path.join(FOLDER, 'next.deb')]);
	await execute('cp', [PACKAGE, path.join(FOLDER, 'first.deb')]);
}

await mkdir(FOLDER, { recursive: true });
await Promise.all([debian(), packages()]);
