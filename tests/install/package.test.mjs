// The Debian package: built, looked at by lintian, and walked through in a clean
// root (clean-root.mjs), which mmdebstrap makes for root and for ordinary users.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { RELEASE, nextBuild, rootless, sources } from './debian.mjs';
import { ROOT, scratch } from '../stack/harness.mjs';

const BUILT = path.join(ROOT, 'build/deb');
const SOURCE = path.join(BUILT, 'urlmode');
const WALK = path.join(ROOT, 'tests/install/clean-root.mjs');
const VERSION = execFileSync(path.join(ROOT, 'nginx/dist/version'), { encoding: 'utf8' }).trim();
const DEBIAN = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
const PROGRAMS = ['connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook'];
// What the host of the test has beside the package.
const BESIDE = ['nginx-light', 'multiwatch', 'spawn-fcgi'];

const execute = promisify(execFile);
// Without what nobody looks at here, two thirds of the compiler's time; `make dist-check` installs what is released.
const env = { ...process.env, DEB_BUILD_OPTIONS: 'noautodbgsym', DEB_CFLAGS_APPEND: '-O1 -g0 -Wno-format-truncation', PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
// Or the tests of the hook would report to this process's runner.
delete env.NODE_TEST_CONTEXT;
const options = { cwd: ROOT, env, maxBuffer: 1 << 26 };

/** Builds the same again with a higher version. */
async function buildNext(version) {
	const changelog = path.join(SOURCE, 'nginx/debian/changelog');
	const text = await readFile(changelog, 'utf8');
	await writeFile(changelog, `${text.replace(/\(.*?\)/, `(${version})`)}\n${text}`);
	await execute('dh_clean', { ...options, cwd: SOURCE });
	await execute('dpkg-buildpackage', ['-b', '--no-sign', '-nc'], { ...options, cwd: SOURCE });
	return path.join(BUILT, `urlmode_${version}_${DEBIAN}.deb`);
}

describe('the package', { concurrency: true }, () => {
	before(() => execute('make', ['deb'], options));

	test('lintian finds nothing to warn of', async () => {
		const { stdout } = await execute('lintian', [path.join(BUILT, `urlmode_${VERSION}_${DEBIAN}.changes`)], options);
		assert.equal(stdout, '');
	});

	test('unpacked, its programs, command and manual pages are there and answer', async (t) => {
		const folder = await scratch('unpacked');
		await execute('dpkg-deb', ['-x', path.join(BUILT, `urlmode_${VERSION}_${DEBIAN}.deb`), folder]);
		const answer = async (file, ...args) => (await execute(path.join(folder, file), args, options)).stdout;

		for (const name of ['api', 'console', ...PROGRAMS]) {
			assert.equal(await answer(`usr/lib/urlmode/${name}`, '--version'), `${name} (urlmode) ${VERSION}\n`);
		}
		await writeFile(path.join(folder, 'keys'), `7 ${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 });
		assert.equal(await answer('usr/libexec/urlmode/operate', 'keys', path.join(folder, 'keys')), '7\n');
		assert.match(await readFile(path.join(folder, 'usr/sbin/urlmode'), 'utf8'), /^#!\/bin\/sh\n/);
		for (const page of ['man8/urlmode.8.gz', 'man8/urlmode-programs.8.gz', 'man5/urlmode-config.5.gz']) {
			await execute('gzip', ['-t', path.join(folder, 'usr/share/man', page)]);
		}
		if (rootless()) t.diagnostic(`not tried, for this user has ${rootless()}: the package in a clean root`);
	});

	// A skipped test fails a run in CI. So there is none where it cannot be tried; the test above says so.
	if (!rootless()) test('in a clean root it is installed, walked, upgraded under load, removed and purged', async () => {
		const folder = await scratch('clean-root');
		const next = nextBuild(VERSION);
		await copyFile(path.join(BUILT, `urlmode_${VERSION}_${DEBIAN}.deb`), path.join(folder, 'first.deb'));

		const walked = execute('mmdebstrap', [
			'--variant=apt', '--format=null', '--dpkgopt=force-unsafe-io', `--include=${BESIDE.join(',')}`,
			`--customize-hook=ROOT="$1" node --test --test-reporter=spec '${WALK}'`,
			RELEASE, '-', ...await sources(),
		], { ...options, env: {
			...env, PACKAGES: folder, VERSION, NEXT: next,
			KEYS: await readFile(process.env.URLMODE_KEYS_FILE, 'utf8'),
		} });
		await rename(await buildNext(next), path.join(folder, 'next.deb'));
		const { stdout, stderr } = await walked.catch((error) => error);
		assert.match(stdout + stderr, /^ℹ fail 0$/m);
	});
});
