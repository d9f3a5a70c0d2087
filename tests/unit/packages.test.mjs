// SPDX-License-Identifier: MIT
// The documents of the packages for Node, Python and Go, and of the callback host, as nginx/dist/documents.py writes them: no link leads nowhere.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = path.join(ROOT, 'nginx/dist/documents.py');
const folder = mkdtempSync(path.join(tmpdir(), 'urlmode-packages-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const python = (...args) => execFileSync('python3', ['-B', PROGRAM, ...args], { encoding: 'utf8' });
const dead = (at) => spawnSync('python3', ['-B', PROGRAM, 'check', at], { encoding: 'utf8' }).stdout;
const write = (file, text) => {
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(file, text);
};

test('a link leads to what the package has, or to the repository at this commit, or says where in it', () => {
	const text = '[a](REFERENCE.md#a) [`b[0]`](../node/HTTP.md) [c](../providers/EVENTS.md#c) [d](../../nginx/API.md#d)\n'
		+ '[e](https://example.org/x) [f](#f) ![g](../../tests/demo.png) `x[1](y)` [h](examples/app.py)\n';
	const made = (name, repository) => {
		const tree = path.join(folder, name);
		for (const file of ['lib/python/REFERENCE.md', 'lib/node/HTTP.md', 'lib/providers/EVENTS.md', 'nginx/API.md', 'tests/demo.png', 'lib/python/examples/app.py', 'lib/node/examples/app.mjs',
			'lib/node/VAULT.md', 'lib/go/examples/app/app.go', 'lib/go/examples/go.mod', 'lib/go/mcp/mcp.go', 'lib/go/urlmode.go']) write(path.join(tree, file), '');
		write(path.join(tree, 'lib/python/README.md'), text);
		write(path.join(tree, 'lib/node/README.md'), '[a](HTTP.md) [b](../providers/EVENTS.md) [c](../python/README.md#c) [d](examples/app.mjs)');
		write(path.join(tree, 'lib/go/README.md'), '[a](../node/VAULT.md#a) [b](../providers/EVENTS.md) [c](examples/app/app.go) [d](mcp/mcp.go) [e](urlmode.go) [f](../../nginx/API.md)');
		write(path.join(tree, 'nginx/dist/names'), `repository=${repository}\n`);
		python('write', tree, 'v1.0.0');
		return (file) => readFileSync(path.join(tree, file), 'utf8');
	};
	const real = made('real', 'https://git.urlmode.dev/urlmode');
	const at = 'https://git.urlmode.dev/urlmode/blob/v1.0.0';
	assert.equal(real(path.join('lib/python/documents', 'python/README.md')), `[a](REFERENCE.md#a) [\`b[0]\`](../node/HTTP.md) [c](../providers/EVENTS.md#c) [d](${at}/nginx/API.md#d)\n`
		+ `[e](https://example.org/x) [f](#f) ![g](${at}/tests/demo.png) \`x[1](y)\` [h](examples/app.py)\n`);
	assert.equal(real('lib/python/README.md').split('\n')[0], `[a](${at}/lib/python/REFERENCE.md#a) [\`b[0]\`](${at}/lib/node/HTTP.md) [c](${at}/lib/providers/EVENTS.md#c) [d](${at}/nginx/API.md#d)`);
	assert.equal(real('lib/node/README.md'), `[a](${at}/lib/node/HTTP.md) [b](${at}/lib/providers/EVENTS.md) [c](${at}/lib/python/README.md#c) [d](${at}/lib/node/examples/app.mjs)`);
	assert.equal(real('lib/go/README.md'), `[a](documents/node/VAULT.md#a) [b](documents/providers/EVENTS.md) [c](_examples/app/app.go) [d](${at}/lib/go/mcp/mcp.go) [e](urlmode.go) [f](${at}/nginx/API.md)`);
	assert.equal(real(path.join('lib/go/documents', 'node/README.md')), `[a](HTTP.md) [b](../providers/EVENTS.md) [c](${at}/lib/python/README.md#c) [d](${at}/lib/node/examples/app.mjs)`);
	assert.equal(made('placeholder', 'https://git.example.com/urlmode')('lib/node/README.md'),
		'[a](HTTP.md) [b](providers/EVENTS.md) c (`lib/python/README.md` in the repository) [d](examples/app.mjs)');
});

test('the check finds a link that leads nowhere, but not what only looks like one', () => {
	const at = path.join(folder, 'checked');
	write(path.join(at, 'a/README.md'), '[b](b.md) [c](../c.md#c) [d](https://example.org) `x[1](y)`\n```js\nf[0](z.q)\n```\n');
	write(path.join(at, 'c.md'), '[a](a/README.md)');
	assert.equal(dead(at), 'a/README.md: b.md\n');
});

test('the packages of this tree have no dead link', () => {
	const tree = path.join(folder, 'tree');
	const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0');
	for (const file of files.filter(Boolean)) write(path.join(tree, file), /\.md$|^nginx\/dist\/names$|^lib\/go\/([a-z]*\/)?go\.mod$/.test(file) ? readFileSync(path.join(ROOT, file)) : '');
	const host = path.join(folder, 'host');
	rmSync(path.join(tree, 'tests'), { recursive: true }); // as in a source package
	python('host', tree, 'HEAD', host);
	python('write', tree, 'HEAD');

	// As prepare.mjs puts the one together, and hatch_build.py the other one.
	const node = path.join(folder, 'node');
	const { files: shipped } = JSON.parse(readFileSync(path.join(ROOT, 'lib/node/package.json'), 'utf8'));
	for (const name of readdirSync(path.join(tree, 'lib/node')).filter((each) => [...shipped, 'README.md', 'package.json'].includes(each))) cpSync(path.join(tree, 'lib/node', name), path.join(node, name), { recursive: true });
	cpSync(path.join(tree, 'lib/providers'), path.join(node, 'providers'), { recursive: true });
	cpSync(path.join(tree, 'sql'), path.join(node, 'sql'), { recursive: true, filter: (file) => !file.endsWith('.md') });
	assert.equal(dead(node), '');

	const wheel = path.join(folder, 'wheel');
	cpSync(path.join(tree, 'lib/python/documents'), wheel, { recursive: true });
	cpSync(path.join(tree, 'lib/python/examples'), path.join(wheel, 'python/examples'), { recursive: true });
	for (const [from, to, kept] of [['lib/providers', 'providers', /\.json$/], ['lib/contract', 'contract', /\.schema\.json$/]]) {
		for (const name of readdirSync(path.join(tree, from)).filter((each) => kept.test(each))) cpSync(path.join(tree, from, name), path.join(wheel, to, name));
	}
	cpSync(path.join(tree, 'sql'), path.join(wheel, 'sql'), { recursive: true, filter: (file) => !file.endsWith('.md') });
	assert.equal(dead(wheel), '');
	const archives = path.join(tree, 'nginx/dist/archives.py');
	writeFileSync(archives, readFileSync(path.join(ROOT, 'nginx/dist/archives.py')));
	execFileSync('python3', ['-B', archives, 'goproxy', tree, path.join(folder, 'goproxy'), 'v1.0.0', '0']);
	const [, name] = /^module (.*)$/m.exec(readFileSync(path.join(tree, 'lib/go/go.mod'), 'utf8'));
	execFileSync('python3', ['-m', 'zipfile', '-e', path.join(folder, 'goproxy', name, '@v/v1.0.0.zip'), path.join(folder, 'module')]);
	const module = path.join(folder, 'module', `${name}@v1.0.0`);
	assert.equal(dead(module), '');
	assert.deepEqual(readdirSync(path.join(module, '_examples')), readdirSync(path.join(tree, 'lib/go/examples')).filter((each) => !each.startsWith('go.')));

	// As nginx/install has them.
	const [, found] = /^(find README\.md [^]*?) \|$/m.exec(readFileSync(path.join(ROOT, 'nginx/install'), 'utf8'));
	for (const name of execFileSync('sh', ['-c', found], { cwd: tree, encoding: 'utf8' }).split('\n').filter((each) => each && !existsSync(path.join(host, each)))) write(path.join(host, name), '');
	cpSync(path.join(tree, 'nginx/examples'), path.join(host, 'examples'), { recursive: true });
	assert.equal(dead(host), '');
	assert.match(readFileSync(path.join(host, 'nginx/DATABASE.md'), 'utf8'), /\]\(\.\.\/examples\/patroni\/patroni\.yml\)/);

	const published = readFileSync(path.join(tree, 'lib/python/README.md'), 'utf8');
	assert.doesNotMatch(published.replaceAll(/```[^]*?```/g, ''), /\]\((?!https?:|#)[^)]*[/.]/, 'what PyPI shows has no file beside it');
});
