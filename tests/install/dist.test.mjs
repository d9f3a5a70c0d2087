// `make dist` without what takes minutes, which is tried by `make dist-check`: from a commit, the same bytes in two folders, signed
// by a key only where somebody answers for the names.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { numbersOf } from '../support/numbers.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['source', 'go', 'sql', 'chart'];
const WHO = {
	GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_AUTHOR_DATE: '@1790000000 +0000',
	GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com', GIT_COMMITTER_DATE: '@1790000000 +0000',
};
const NPM = (number) => `${number}-git.1790000000`;

const folder = await mkdtemp(join(tmpdir(), 'urlmode-dist-'));
after(() => rm(folder, { recursive: true, force: true }));
const trees = [join(folder, 'one'), join(folder, 'another place', 'two')];

const run = async (cwd, env, program, ...given) => (await promisify(execFile)(program, given, { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 })).stdout;
const git = (tree, ...given) => run(tree, WHO, 'git', ...given);
const dist = async (tree, env, ...parts) => promisify(execFile)('nginx/dist/dist', parts, { cwd: tree, env: { ...process.env, KEY: '', ...env } });
const refusal = (tree, env, ...parts) => dist(tree, env, ...parts).then(() => assert.fail('it was made'), ({ stderr }) => stderr);

/** Names and digests of everything in build/dist. */
async function made(tree) {
	const at = join(tree, 'build/dist');
	const files = (await readdir(at, { withFileTypes: true, recursive: true })).filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(at.length + 1)).sort();
	return Object.fromEntries(await Promise.all(files.map(async (file) => [file, createHash('sha256').update(await readFile(join(at, file))).digest('hex')])));
}

let number;

before(async () => {
	[, number] = /^urlmode \(([\d.]*)/.exec(await readFile(join(ROOT, 'nginx/debian/changelog'), 'utf8'));
	const [one, two] = trees;
	const files = (await run(ROOT, {}, 'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate')).split('\0').filter(Boolean);
	for (const file of files) await cp(join(ROOT, file), join(one, file), { verbatimSymlinks: true }).catch((error) => assert.equal(error.code, 'ENOENT'));
	// Also at the commit of a release, which has no tag here.
	const changelog = join(one, 'nginx/debian/changelog');
	await writeFile(changelog, (await readFile(changelog, 'utf8')).replace(/^(urlmode \(.*?\)) .*?;/, '$1 UNRELEASED;'));
	await git(one, 'init', '-q');
	await git(one, 'add', '-A');
	await git(one, 'commit', '-qm', 'All.');
	await mkdir(join(folder, 'another place'));
	await git(folder, 'clone', '-q', one, two);
	for (const tree of trees) await prepare(tree);
});

/** What `make deps` has installed. */
async function prepare(tree) {
	await mkdir(join(tree, 'build'), { recursive: true });
	await symlink(join(ROOT, 'build/python'), join(tree, 'build/python'));
	await mkdir(join(tree, 'lib/node/node_modules/typescript'), { recursive: true });
}

test('it is the same, byte for byte, from the same commit in another folder', async () => {
	const [one, two] = await Promise.all(trees.map(async (tree) => {
		const { stderr } = await dist(tree, {}, ...PARTS);
		assert.match(stderr, /THESE NAMES ARE PLACEHOLDERS[^]*^security=/m);
		return made(tree);
	}));
	assert.deepEqual(one, two);
	const npm = NPM(number);
	const artifacts = [`urlmode-${npm}-source.tar.gz`, `urlmode-${npm}-goproxy.tar.gz`, `urlmode-${npm}-sql.tar.gz`, `urlmode-chart-${npm}.tgz`];
	assert.deepEqual(Object.keys(one), ['SHA256SUMS', ...artifacts, ...artifacts.flatMap((name) => [`sbom/${name}.cdx.json`, `sbom/${name}.spdx.json`])].sort());
	await run(join(trees[0], 'build/dist'), {}, 'sha256sum', '--check', '--strict', 'SHA256SUMS');
});

test('each artifact has the version, and the source knows it without a repository', async () => {
	const at = join(folder, 'unpacked');
	await mkdir(at);
	const npm = NPM(number);
	const built = join(trees[0], 'build/dist');
	for (const name of (await readdir(built)).filter((file) => /\.(tar\.gz|tgz)$/.test(file))) await run(at, {}, 'tar', '-xf', join(built, name));
	const text = (name) => readFile(join(at, name), 'utf8');
	assert.match(await run(at, {}, `./urlmode-${npm}/nginx/dist/version`), new RegExp(`^${number.replaceAll('.', '\\.')}~git1790000000\\.[0-9a-f]{12}\n$`));
	assert.match(await text('urlmode/Chart.yaml'), new RegExp(`^version: ${npm}\nappVersion: ${npm}$`, 'm'));
	assert.match(await text('urlmode/values.yaml'), new RegExp(` tag: ${npm}[,}]`));
	assert.deepEqual((await readdir(join(at, `urlmode-${npm}-sql`))).filter((name) => ['migrate', 'tables', 'functions'].includes(name)), ['functions', 'migrate', 'tables']);
	const go = (await run(trees[0], {}, 'nginx/dist/version', 'go')).trim();
	const [, path] = /^module (.*)$/m.exec(await readFile(join(trees[0], 'lib/go/go.mod'), 'utf8'));
	assert.equal(JSON.parse(await text(`goproxy/${path}/mcp/@v/${go}.info`)).Time, '2026-09-21T14:13:20Z');
	// A module has nothing beside it: what `urlmode new` writes, and the schema of urlmodetest, are in it.
	const names = await run(folder, {}, 'python3', '-c', `import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist())`,
		join(at, `goproxy/${path}/@v/${go}.zip`));
	for (const file of ['cmd/urlmode/testdata/sdk/main.go', 'cmd/urlmode/testdata/.env.example', 'urlmodetest/sql/end.sql', 'urlmodetest/sql/tables/055_digest.sql']) {
		assert.ok(names.split(/\s/).some((name) => name.endsWith(`@${go}/${file}`)), file);
	}
	assert.match(await text(`goproxy/${path}/mcp/@v/${go}.mod`), new RegExp(`^\t${path} ${go}$`, 'm'));
});

test('a bill of materials has what both standards require, and what the artifact needs of others', async () => {
	const at = join(trees[0], 'build/dist/sbom');
	const sums = await made(trees[0]);
	for (const file of await readdir(at)) {
		const document = JSON.parse(await readFile(join(at, file), 'utf8'));
		const artifact = file.replace(/\.(cdx|spdx)\.json$/, '');
		if (file.endsWith('.cdx.json')) {
			assert.deepEqual([document.bomFormat, document.specVersion, document.version], ['CycloneDX', '1.5', 1]);
			assert.match(document.serialNumber, /^urn:uuid:[0-9a-f-]{36}$/);
			assert.deepEqual([document.metadata.component.name, document.metadata.component.hashes[0].content], [artifact, sums[artifact]]);
			assert.equal(document.metadata.timestamp, '2026-09-21T14:13:20Z');
			const refs = [artifact, ...document.components.map((each) => each['bom-ref'])];
			assert.equal(new Set(refs).size, refs.length);
			assert.deepEqual(document.dependencies, [{ ref: artifact, dependsOn: refs.slice(1) }]);
			for (const each of document.components) assert.match(each.purl, /^pkg:golang\/\S+@v\d/);
			assert.equal(document.components.some(({ name }) => name === 'github.com/jackc/pgx/v5'), artifact.includes('goproxy'));
		} else {
			assert.deepEqual([document.spdxVersion, document.dataLicense, document.SPDXID], ['SPDX-2.3', 'CC0-1.0', 'SPDXRef-DOCUMENT']);
			assert.match(document.documentNamespace, /^https?:\/\/[^#]+$/);
			assert.equal(document.creationInfo.created, '2026-09-21T14:13:20Z');
			assert.deepEqual(document.packages[0].checksums, [{ algorithm: 'SHA256', checksumValue: sums[artifact] }]);
			const ids = document.packages.map(({ SPDXID }) => SPDXID);
			assert.equal(new Set(ids).size, ids.length);
			for (const { name, versionInfo, downloadLocation } of document.packages) assert.ok(name && versionInfo && downloadLocation);
			for (const { relatedSpdxElement } of document.relationships) assert.ok(ids.includes(relatedSpdxElement));
		}
	}
	assert.equal((await readdir(at)).length, 2 * PARTS.length);
});

test('a bill of materials of the image names the Debian of the root that it was built in', async () => {
	const at = join(folder, 'image');
	await mkdir(join(at, 'status.d'), { recursive: true });
	await writeFile(join(at, 'os-release'), 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_ID="13"\n');
	await writeFile(join(at, 'status.d/libpq5'), 'Package: libpq5\nVersion: 17.6-0+deb13u1\n');
	await run(at, {}, 'python3', '-B', join(trees[0], 'nginx/dist/sbom.py'), 'image', trees[0], join(at, 'image.tar'), join(at, 'sbom'), '1.0.0', '1790000000', join(at, 'status.d'));
	const { components } = JSON.parse(await readFile(join(at, 'sbom.cdx.json'), 'utf8'));
	assert.deepEqual(components.map(({ purl }) => purl), ['pkg:deb/debian/libpq5@17.6-0%2Bdeb13u1?distro=debian-13']);
});

test('other names are written into what is made, and its repository where that is real', async () => {
	const at = join(folder, 'named');
	await git(folder, 'clone', '-q', trees[0], at);
	const text = (file) => readFile(join(at, file), 'utf8');
	const json = async (file) => JSON.parse(await text(file));
	await run(at, {}, 'nginx/dist/stamp', '.');
	for (const [file, member] of [['lib/node/package.json', 'repository'], ['lib/python/pyproject.toml', 'project.urls'], ['nginx/containers/chart/Chart.yaml', 'sources'], ['nginx/debian/control', 'Homepage']])
		assert.ok(!(await text(file)).includes(member), file);

	await git(at, 'checkout', '-q', '.');
	const own = { npm: '@acme/urlmode', python: 'acme-urlmode', image: 'images.acme.dev/callbacks', repository: 'https://git.acme.dev/urlmode' };
	await writeFile(join(at, 'nginx/dist/names'), (await text('nginx/dist/names')).replaceAll(/^(\w+)=.*$/gm, (line, name) => (name in own ? `${name}=${own[name]}` : line)));
	await run(at, {}, 'nginx/dist/stamp', '.');
	const { name, repository, imports } = await json('lib/node/package.json');
	assert.deepEqual([name, repository], [own.npm, { type: 'git', url: 'git+https://git.acme.dev/urlmode.git', directory: 'lib/node' }]);
	assert.ok('#tasks' in imports, 'nothing else is changed');
	const lock = await json('lib/node/package-lock.json');
	assert.deepEqual([lock.name, lock.packages[''].name], [own.npm, own.npm]);
	assert.match(await text('lib/python/pyproject.toml'), /^name = "acme-urlmode"$[^]*^\[project\.urls\]\nRepository = "https:\/\/git\.acme\.dev\/urlmode"\n\n\[project\.optional-dependencies\]$/m);
	assert.match(await text('lib/python/src/urlmode/_core/version.py'), /^DISTRIBUTION = "acme-urlmode"$/m);
	assert.match(await text('nginx/containers/chart/Chart.yaml'), /^name: urlmode$[^]*^sources: \["https:\/\/git\.acme\.dev\/urlmode"\]$/m);
	assert.match(await text('nginx/debian/control'), /^Homepage: https:\/\/git\.acme\.dev\/urlmode$/m);
	for (const file of ['chart/values.yaml', 'kubernetes.yaml', 'kubernetes-api.yaml']) {
		const there = await text(`nginx/containers/${file}`);
		assert.ok(!there.includes('registry.example.com/urlmode'), file);
		assert.match(there, /images\.acme\.dev\/callbacks/, file);
	}
});

test('what is not committed, and a part that is not there, are refused', async () => {
	const [one] = trees;
	await writeFile(join(one, 'new'), 'x');
	assert.match(await refusal(one, {}, 'sql'), /commit what has changed first: \?\? new/);
	await rm(join(one, 'new'));
	assert.match(await refusal(one, {}, 'nothing'), /there is no part nothing/);
});

test('it signs with the key that is named, and nothing that nobody answers for', async (t) => {
	const [one] = trees;
	const GNUPGHOME = join(folder, 'keys');
	await mkdir(GNUPGHOME, { mode: 0o700 });
	t.after(() => run(folder, { GNUPGHOME }, 'gpgconf', '--kill', 'all'));
	await run(folder, { GNUPGHOME }, 'gpg', '--batch', '--passphrase', '', '--quick-generate-key', 'releaser@example.org', 'ed25519', 'sign', 'never');
	const KEY = 'releaser@example.org';
	assert.match(await refusal(one, { GNUPGHOME, KEY }, 'sql'), /it does not sign what nobody answers for/);

	const files = ['nginx/dist/names', 'nginx/SECURITY.md', 'nginx/debian/changelog'].map((file) => join(one, file));
	const [names, security, changelog] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
	const real = [
		names.replaceAll(/^(go|image|repository|security)=.*$/gm, (_, name) => `${name}=${{
			go: 'git.urlmode.dev/urlmode/lib/go', image: 'images.urlmode.dev/urlmode', repository: 'https://git.urlmode.dev/urlmode', security: 'security@urlmode.dev' }[name]}`),
		security.replaceAll('security@urlmode.invalid', 'security@urlmode.dev'),
		changelog.replaceAll(/<.*>/g, '<maintainers@urlmode.dev>'),
	];
	const write = async (texts) => {
		for (const [index, file] of files.entries()) await writeFile(file, texts[index]);
		await git(one, 'commit', '-qam', 'Names.');
	};
	// One that nobody answers for is enough.
	for (const [index, text, said] of [
		[0, real[0].replace(/^security=.*$/m, 'security=security@urlmode.invalid'), 'security=security@urlmode.invalid'],
		[1, security, 'contact=security@urlmode.invalid'],
		[2, changelog, 'maintainer=maintainers@urlmode.invalid'],
	]) {
		await write(real.with(index, text));
		const loud = await refusal(one, { GNUPGHOME, KEY }, 'sql');
		assert.match(loud, /THESE NAMES ARE PLACEHOLDERS/);
		assert.ok(loud.endsWith(`:\n${said}\nmake dist: it does not sign what nobody answers for\n`), loud);
	}
	await write(real);
	assert.equal((await dist(one, { GNUPGHOME, KEY }, 'sql')).stderr, '');
	await run(join(one, 'build/dist'), { GNUPGHOME }, 'gpg', '--batch', '--verify', 'SHA256SUMS.asc', 'SHA256SUMS');
	assert.match(await refusal(one, { GNUPGHOME, KEY: 'nobody@example.org' }, 'sql'), /the key nobody@example\.org did not sign/);
});

test('a release is made by the commands of README, as far as they need no registry', async (t) => {
	const text = await readFile(join(ROOT, 'nginx/dist/README.md'), 'utf8');
	const [, table] = /^## How a release is made\n([^]*)/m.exec(text);
	const next = number.replace(/\d+$/, (patch) => Number(patch) + 1);
	const steps = [...table.matchAll(/^\| (.*?) \| (.*) \|$/gm)].slice(1).map(([, step, cell]) => {
		const [, command] = /^`([^`]+)`$/.exec(cell) ?? assert.fail(`${step} is no command: ${cell}`);
		return command.replaceAll('1.0.1', next).replaceAll('1.0.0', number);
	});
	assert.ok(steps.length > 12, `${steps.length} steps`);
	const names = [...text.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].flatMap(([, cell]) => cell.match(/[^`, ]+/g)).map((name) => name.replace('VERSION', number));

	const [one] = trees;
	const [origin, tree] = [join(folder, 'origin.git'), join(folder, 'release')];
	await git(folder, 'clone', '-q', '--bare', one, origin);
	await git(folder, 'clone', '-q', origin, tree);
	await prepare(tree);
	const KEY = 'releaser@example.org';
	const GNUPGHOME = join(folder, 'keys');
	t.after(() => run(folder, { GNUPGHOME }, 'gpgconf', '--kill', 'all'));
	await git(tree, 'config', 'user.signingkey', KEY);
	const env = { ...WHO, GNUPGHOME, DEBFULLNAME: 'a', DEBEMAIL: 'maintainers@urlmode.dev', MAKEFLAGS: '', MAKELEVEL: '' };
	const left = [];
	for (const step of steps) {
		if (/^make dist-check KEY=…$/.test(step)) {
			await dist(tree, { GNUPGHOME, KEY }, 'source', 'go', 'sql', 'chart');
		} else if (/^(gh|npm|twine|skopeo|helm|reprepro) /.test(step)) {
			left.push(step);
			for (const [, file] of step.matchAll(/build\/dist\/(?!sbom\/)(\S+?)(?=\s|$)/g)) {
				const pattern = new RegExp(`^${file.replace('amd64', 'ARCH').replaceAll(/[.+]/g, '\\$&').replaceAll('*', '.*')}$`);
				assert.ok(names.some((name) => pattern.test(name)), `${file} is not made: ${step}`);
			}
		} else if (/^make test-all |^tests\/upgrade\/freeze /.test(step)) {
			left.push(step);
		} else {
			if (step.startsWith('git tag ')) assert.match(await refusal(tree, {}, 'sql'), new RegExp(`this commit has no tag v${number.replaceAll('.', '\\.')}`));
			await run(tree, env, 'sh', '-euc', step);
		}
	}
	assert.equal(left.length, 9, left.join('\n'));

	assert.deepEqual(Object.keys(await made(tree)).filter((name) => !name.startsWith('sbom/')),
		['SHA256SUMS', 'SHA256SUMS.asc', `urlmode-${number}-goproxy.tar.gz`, `urlmode-${number}-source.tar.gz`, `urlmode-${number}-sql.tar.gz`, `urlmode-chart-${number}.tgz`]);
	await run(join(tree, 'build/dist'), { GNUPGHOME }, 'gpg', '--batch', '--verify', 'SHA256SUMS.asc', 'SHA256SUMS');
	const tags = ['', 'mcp/', 'mcpgo/', 'vault/'].map((module) => `lib/go/${module}v${number}`);
	assert.deepEqual((await git(origin, 'tag')).trim().split('\n').sort(), [...tags, `v${number}`].sort(), 'pushed');
	await run(origin, { ...WHO, GNUPGHOME }, 'git', 'verify-tag', `v${number}`);
	assert.match(await git(origin, 'show', `v${number}:nginx/debian/changelog`), new RegExp(`^urlmode \\(${number.replaceAll('.', '\\.')}\\) unstable;`));

	// The next version is worked on, with the record of this one, in every file that has the number.
	assert.equal(await git(tree, 'status', '--porcelain'), '');
	assert.equal((await git(tree, 'ls-tree', '--name-only', 'HEAD', `tests/upgrade/v${number}.tar.xz`)).trim(), `tests/upgrade/v${number}.tar.xz`);
	const { number: now, found } = numbersOf(tree);
	assert.equal(now, next);
	assert.deepEqual(found, Object.fromEntries(Object.keys(found).map((name) => [name, next])));
	assert.match(await run(tree, {}, 'nginx/dist/version'), new RegExp(`^${next}~git`));
	assert.match(await run(tree, {}, 'dpkg-parsechangelog', '--all', '--format', 'rfc822', '-l', 'nginx/debian/changelog'), new RegExp(`^Version: ${next}\n[^]*^Version: ${number}\n`, 'm'));
	await assert.rejects(run(tree, WHO, 'nginx/dist/number', '1.20'), /a version is X\.Y\.Z/);
});
