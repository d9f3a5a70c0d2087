// SPDX-License-Identifier: MIT
// nginx/dist/version: one source, from which every kind of artifact has a version that its package manager puts in order.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import semver from 'semver';

import { numbersOf } from '../support/numbers.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KINDS = ['debian', 'npm', 'python', 'go'];
const folder = mkdtempSync(path.join(tmpdir(), 'urlmode-version-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const tree = path.join(folder, 'tree');
const version = (kind, at = tree) => execFileSync(path.join(at, 'nginx/dist/version'), [kind], { encoding: 'utf8' }).trim();
const versions = (at) => Object.fromEntries(KINDS.map((kind) => [kind, version(kind, at)]));

/** Entries of a changelog, the newest first: `1.0.1 UNRELEASED`, or `1.0.0`. */
const changelog = (...entries) => entries.map((entry) => {
	const [number, distribution = 'unstable'] = entry.split(' ');
	return `urlmode (${number}) ${distribution}; urgency=medium\n\n  * News.\n\n -- A <a@example.org>  Mon, 02 Jan 2006 15:04:05 +0000\n`;
}).join('\n');

function git(env, ...args) {
	const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.org' };
	return execFileSync('git', args, { cwd: tree, encoding: 'utf8', env: { ...process.env, ...who, ...env } }).trim();
}

/** What a commit with this changelog has as its versions. */
function commit(seconds, ...entries) {
	writeFileSync(path.join(tree, 'nginx/debian/changelog'), changelog(...entries));
	git({}, 'add', '-A');
	git({ GIT_COMMITTER_DATE: `@${seconds} +0200` }, 'commit', '-q', '--allow-empty', '-m', `At ${seconds}.`);
	return versions();
}

mkdirSync(path.join(tree, 'nginx/debian'), { recursive: true });
cpSync(path.join(ROOT, 'nginx/dist'), path.join(tree, 'nginx/dist'), { recursive: true });
cpSync(path.join(ROOT, '.gitattributes'), path.join(tree, '.gitattributes'));
git({}, 'init', '-q');

// Hashes would not be in this order.
const BUILDS = [
	commit(1790000000, '1.0.0 UNRELEASED'),
	commit(1790000001, '1.0.0 UNRELEASED'),
	commit(1790000100, '1.0.0'),
	commit(1790000200, '1.0.1 UNRELEASED', '1.0.0'),
	commit(1790000300, '1.0.1 UNRELEASED', '1.0.0'),
	commit(1790000400, '1.0.1', '1.0.0'),
	commit(1790000500, '1.1.0 UNRELEASED', '1.0.1', '1.0.0'),
	commit(1800000000, '1.1.0 UNRELEASED', '1.0.1', '1.0.0'),
	commit(1800000100, '1.1.0', '1.0.1', '1.0.0'),
];

test('a release has its number alone, and what is built between releases has the time and the commit', () => {
	assert.deepEqual(BUILDS[2], { debian: '1.0.0', npm: '1.0.0', python: '1.0.0', go: 'v1.0.0' });
	const hash = git({}, 'rev-parse', 'HEAD~4').slice(0, 12);
	assert.deepEqual(BUILDS[4], {
		debian: `1.0.1~git1790000300.${hash}`, npm: '1.0.1-git.1790000300', python: '1.0.1.dev1790000300', go: `v1.0.1-0.20260921141820-${hash}`,
	});
	assert.match(BUILDS[0].go, /^v0\.0\.0-20260921141320-[0-9a-f]{12}$/, 'no version comes before the first one');
	assert.match(BUILDS[7].go, /^v1\.0\.2-0\.20270115080000-[0-9a-f]{12}$/);
});

const LOWER = {
	debian: (a, b) => spawnSync('dpkg', ['--compare-versions', a, 'lt', b]).status === 0,
	npm: (a, b) => semver.lt(a, b),
	python: (a, b) => execFileSync(path.join(ROOT, 'build/python/bin/python'), ['-c',
		'import sys; from packaging.version import Version; print(Version(sys.argv[1]) < Version(sys.argv[2]))', a, b], { encoding: 'utf8' }) === 'True\n',
	go: (a, b) => semver.lt(a, b),
};
for (const [kind, lower] of Object.entries(LOWER)) {
	test(`${kind} upgrades from each build to the next one, and never back`, () => {
		const all = BUILDS.map((each) => each[kind]);
		assert.deepEqual(all.slice(1).map((each, index) => [lower(all[index], each), lower(each, all[index])]), all.slice(1).map(() => [true, false]), all.join(' '));
	});
}

test('a package for one release of Debian is newer in the next one, and older than the next version', () => {
	const [before, after] = [`${BUILDS[3].debian}+deb13`, '1.0.1+deb12'];
	for (const [a, b] of [[BUILDS[3].debian, before], [before, BUILDS[4].debian], [BUILDS[4].debian, after], [after, '1.0.1+deb13'], ['1.0.1+deb13', BUILDS[6].debian]]) {
		assert.ok(LOWER.debian(a, b), `${a} < ${b}`);
	}
});

test('an archive that git has made, and a changelog with its version, need no .git', () => {
	commit(1800000200, '1.1.1 UNRELEASED', '1.1.0');
	const archive = path.join(folder, 'archive');
	mkdirSync(archive);
	execFileSync('sh', ['-c', 'git archive HEAD | tar -x -C "$1"', 'sh', archive], { cwd: tree });
	assert.deepEqual(versions(archive), versions());
	assert.equal(version('epoch', archive), '1800000200');

	const file = path.join(archive, 'nginx/debian/changelog');
	const text = `${version('changelog', archive)}\n`;
	assert.match(text, /^urlmode \(1\.1\.1~git1800000200\.[0-9a-f]{12}\) UNRELEASED;[^]* -- A <a@example\.org> {2}Fri, 15 Jan 2027 08:03:20 \+0000\n[^]*15:04:05 \+0000\n$/);
	cpSync(path.join(ROOT, 'nginx/dist/commit'), path.join(archive, 'nginx/dist/commit'));
	for (const each of [text, text.replace(/(?=\) UNRELEASED)/, '+deb12')]) {
		writeFileSync(file, each);
		assert.deepEqual(versions(archive), versions());
		assert.equal(`${version('changelog', archive)}\n`, text);
		assert.equal(version('epoch', archive), '1800000200');
	}
});

test('without any of them the version is older than all others, also inside the repository of somebody else', () => {
	const copy = path.join(tree, 'copy');
	cpSync(path.join(tree, 'nginx'), path.join(copy, 'nginx'), { recursive: true });
	assert.deepEqual(versions(copy), { debian: '1.1.1~git0.unknown', npm: '1.1.1-git.0', python: '1.1.1.dev0', go: 'v1.1.1-0.19700101000000-unknown' });
	assert.equal(version('epoch', copy), '1136214245', 'the time of the changelog');
	assert.ok(LOWER.debian('1.1.1~git0.unknown', BUILDS[0].debian.replace('1.0.0', '1.1.1')));
});

test('each file of this tree that names the number has that of the changelog', () => {
	const { number, found } = numbersOf(ROOT);
	assert.deepEqual(found, Object.fromEntries(Object.keys(found).map((name) => [name, number])));
});

test('what was built says the version with which it was built', () => {
	const built = readFileSync(path.join(ROOT, 'build/version'), 'utf8').trim();
	assert.equal(execFileSync(path.join(ROOT, 'build/bin/connect'), ['--version'], { encoding: 'utf8' }), `connect (urlmode) ${built}\n`);
	assert.equal(built.split('~')[0], version('debian', ROOT).split('~')[0]);
});
