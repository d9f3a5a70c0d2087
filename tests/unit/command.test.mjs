// SPDX-License-Identifier: MIT
// The operator's command: its help and its code have the same subcommands and options, its
// manual page and completion are made from the help, and wrong arguments are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { installCommand, ROOT, urlmode } from '../support/command.mjs';

const FOLDER = path.join(ROOT, 'nginx/command');
const SUBCOMMANDS = ['api-key', 'check', 'delivery', 'events', 'export', 'forget', 'jwks', 'keys', 'migrate', 'pages', 'purge', 'reconcile', 'refunded', 'release', 'setup', 'show', 'version', 'void'];

const read = (name) => readFileSync(path.join(FOLDER, name), 'utf8');
const sorted = (names) => [...new Set(names)].sort();
const options = (text) => sorted((text.match(/--[a-z][a-z-]+/g) ?? []).filter((option) => !['--deployment', '--help', '--version'].includes(option)));

const MANUAL = path.join(ROOT, 'build/man/urlmode.8');

/** The page as it is read, without what marks bold and underlined letters. */
function page() {
	return execFileSync('mandoc', ['-Tutf8', MANUAL], { encoding: 'utf8' }).replaceAll(/.\x08/g, '');
}

/** What bash proposes for the last of these words. */
function complete(...words) {
	return execFileSync('bash', ['-c', `
		. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _urlmode; printf '%s\\n' "\${COMPREPLY[@]}"`,
	'bash', path.join(FOLDER, 'completion.bash'), path.join(FOLDER, 'urlmode'), ...words], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** The options that the code takes: the patterns of its `case`. */
function taken(name) {
	if (name === 'delivery') return options(readFileSync(path.join(ROOT, 'lib/operate/check_delivery.c'), 'utf8').match(/"--[a-z]+"/g).join(' '));
	const decides = ['release', 'void', 'refunded'].includes(name);
	const code = read(decides ? 'decide-payment.sh' : `${name}.sh`);
	const [, body] = new RegExp(`^${decides ? 'decide' : `run_${name.replace('-', '_')}`}\\(\\)\n\\{\n([^]*?)^\\}`, 'm').exec(code);
	const patterns = [...body.matchAll(/^\t+([^\n()]*--[^\n()]*)\)/gm)].map(([, pattern]) => pattern);
	return options(patterns.join(' '));
}

test('the subcommands are those of the page, of the help, of the completion and of the files', async () => {
	const { out, status } = await urlmode(['--help']);
	const listed = [...out.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name);

	assert.equal(status, 0);
	assert.deepEqual(sorted(listed), sorted([...SUBCOMMANDS, 'help']));
	assert.deepEqual(sorted(complete('')), sorted([...SUBCOMMANDS, 'help', '--help', '--version']));
	assert.deepEqual(sorted([...page().matchAll(/^ {3}urlmode ([a-z-]+)$/gm)].map(([, name]) => name)), SUBCOMMANDS);
	const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sh')).map((name) => name.slice(0, -3));
	const parts = ['api', 'console', 'host', 'issuer', 'keys', 'loaded', 'nginx', 'outside', 'running', 'walk'].map((part) => `check-${part}`)
		.concat(['common', 'decide-payment', 'deployment', 'paths', 'setup-api', 'setup-console', 'setup-database', 'setup-nginx', 'setup-units']);
	assert.deepEqual(sorted(files), sorted([...SUBCOMMANDS, ...parts]));
	assert.deepEqual(await urlmode(['help']), { status: 0, out, err: '' });
});

for (const name of SUBCOMMANDS) {
	test(`${name}: help, page, completion and code have the same options`, async () => {
		const help = await urlmode(['help', name]);
		const text = page().replaceAll(/\s+/g, ' ');

		assert.equal(help.status, 0);
		assert.match(help.out, new RegExp(`^usage: urlmode ${name}`));
		assert.deepEqual(await urlmode([name, '--help']), help);
		assert.deepEqual(options(help.out), taken(name));
		assert.deepEqual(options(complete(name, ...{ 'api-key': ['add'], jwks: ['refresh'], keys: ['rotate'] }[name] ?? [], '--').join(' ')), taken(name));
		for (const line of help.out.split('\n')) assert.ok(text.includes(line.replace(/^usage: /, '').trim().replaceAll(/ +/g, ' ')), line);
	});
}

test('the help has the checks, the page the environment, and no warnings', async () => {
	const code = readdirSync(FOLDER).filter((name) => name.startsWith('check')).map(read).join('\n');
	const checks = sorted([...code.matchAll(/\bfinding (?:ok|warning|error|skipped) (\w+)/g)].map(([, name]) => name));
	const [, list] = /The\s+checks are:\n\n([^]*?)\n\n/.exec((await urlmode(['help', 'check'])).out);
	const named = sorted([...list.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name));
	const shell = readdirSync(FOLDER).filter((name) => name.endsWith('.sh')).map(read).join('\n');
	const [, environment] = /^ENVIRONMENT\n([^]*?)^FILES/m.exec(page());

	assert.deepEqual(named, checks);
	assert.deepEqual(sorted([...environment.matchAll(/^ {5}(URLMODE_\w+)$/gm)].map(([, name]) => name)),
		sorted([...shell.matchAll(/\$\{(URLMODE_\w+)/g)].map(([, name]) => name)));
	assert.equal(execFileSync('mandoc', ['-Tlint', '-Wwarning', MANUAL], { encoding: 'utf8' }), '');
});

test('urlmode can ask for each key of the configuration', () => {
	const [, keys] = /\bkeys\[\] = \{([^}]*)\}/.exec(readFileSync(path.join(ROOT, 'lib/config/config.c'), 'utf8'));
	const [query] = /^print_key\([^]*?^\}/m.exec(readFileSync(path.join(ROOT, 'lib/operate/query.c'), 'utf8'));
	const answered = [...query.matchAll(/\{ "(\w+)", |strcmp\(key, "(\w+)"\)/g)].map(([, value, list]) => value ?? list);

	// What follows from the providers is beside them.
	assert.deepEqual(sorted(answered), sorted(['programs', ...[...keys.matchAll(/"(\w+)"/g)].map(([, key]) => key)]));
});

test('with --deployment a subcommand reads the files of the deployment, wherever the option stands', async () => {
	const id = '11111111-1111-4111-8111-111111111111';
	for (const [line, folder] of [[['show', id], 'urlmode'], [['--deployment', 'b', 'show', id], 'urlmode-b'], [['show', '--deployment', 'b', id], 'urlmode-b'],
		[['show', id, '--deployment', 'b'], 'urlmode-b'], [['show', id, '--deployment', 'default'], 'urlmode']]) {
		const { status, err } = await urlmode(line);
		assert.equal(status, 1);
		assert.match(err, new RegExp(`it into /etc/${folder}/operator\\.env`));
	}
	const { status, out } = await urlmode(['check', '--deployment', 'b', '--json']);
	assert.equal(status, 2);
	const { findings } = JSON.parse(out);
	assert.match(findings.at(-1).message, /\/etc\/urlmode-b\/config\.json/);
	assert.match(findings.at(-1).advice, /^urlmode --deployment b setup/);
});

test('bash completes subcommands, options and values', () => {
	assert.deepEqual(complete('ev'), ['events']);
	assert.deepEqual(complete('events', '--pr'), ['--provider']);
	assert.deepEqual(complete('purge', '--kind', 'pa'), ['payment']);
	assert.deepEqual(complete('keys', 'rot'), ['rotate']);
	assert.deepEqual(complete('api-key', 'add', '--t'), ['--tenant']);
	assert.deepEqual(complete('keys', 'drop', '--f'), ['--force']);
	assert.deepEqual(complete('help', 'mi'), ['migrate']);
	assert.deepEqual(complete('check', '--dep'), ['--deployment']);
});

describe('a command line that makes no sense ends with 64, and says how it would', () => {
	const LINES = [
		[], ['sow'], ['help', 'sow'], ['--verbose'], ['\x1b[31mred'],
		['show'], ['show', 'x'], ['show', "1'; DROP TABLE x; --"], ['show', '--all', 'x'],
		['show', '11111111-1111-1111-1111-1111111111111'], ['show', '111111111111-1111-1111-1111-11111111'],
		['events', '--late', '--unclaimed'], ['events', '--late', '--undelivered'], ['events', '--late', '--unknown'], ['events', '--late', '--unreadable'], ['events', '--provider'], ['events', '--limit', 'x'], ['events', '--limit', ''], ['events', 'x'], ['events', '--tenant', 'A'], ['events', '--unreadable', '--tenant', '-'], ['show', '--tenant', ''], 
		['release'], ['release', 'stripe'], ['release', 'stripe', 'pi_1', 'pi_2'], ['void', 'stripe'], ['void', '--note'], ['void', '--all'],
		['refunded', 'stripe', 'pi_1'], ['refunded', 'stripe', 'pi_1', 're_1', 're_2'],
		['reconcile'], ['reconcile', 'stripe'], ['reconcile', '--from', '1d'], ['reconcile', 'stripe', '--from'], ['reconcile', 'stripe', '--all'],
		['export'], ['export', 'a', 'b'], ['export', '--tenant', 'A', 'a'], ['forget'], ['forget', 'a', 'b'], ['forget', '--note'], ['forget', '--all'], ['forget', '--list', '--limit', 'x'],
		['purge', '--older-than', 'x'], ['purge', '--older-than', '90'], ['purge', '--older-than', '1e9d'], ['purge', '--kind', 'x'], ['purge', 'x'],
		['keys'], ['keys', 'print'], ['keys', 'list', '--force'], ['keys', 'rotate', '--force'], ['keys', 'drop', '--promote'], ['keys', 'drop', 'x'],
		['api-key'], ['api-key', 'print'], ['api-key', 'add'], ['api-key', 'add', 'a', 'b'], ['api-key', 'add', 'a', '--tenant'], ['api-key', 'add', '-a'], ['api-key', 'list', 'a'], ['api-key', 'remove'], ['api-key', 'remove', 'a', '--tenant', 'b'],
		['setup'], ['setup', 'callback.example'], ['setup', 'http://callback.example'], ['setup', 'https://'],
		['setup', 'https://a.example/path'], ['setup', 'https://a.example', 'https://b.example'], ['setup', 'https://a.example:'],
		['setup', 'https://a.example:x'], ['setup', 'https://a"b'], ['setup', '--oauth', 'A', 'https://a.example'], ['setup', '--oauth'],
		['setup', '--user-check', 'none', 'https://a.example'], ['setup', '--database-host', 'a b', 'https://a.example'],
		['check', '--fix'], ['check', '--nginx'], ['migrate', '--force'], ['migrate', '--revoke-others'], ['--deployment'], ['check', '--deployment', 'B'], ['--deployment', 'api', 'check'],
		['setup', '--upgrade', 'https://a.example'], ['setup', '--api-port', 'x', 'https://a.example'], ['version', '1'], ['pages', 'x'], ['delivery'], ['delivery', '--provider', 'x', '--colour', 'blue', 'y'],
	];

	for (const line of LINES) {
		test(JSON.stringify(line.join(' ')), async () => {
			const { status, out, err } = await urlmode(line);
			assert.deepEqual([status, out], [64, '']);
			assert.match(err, /urlmode/);
			assert.doesNotMatch(err, /[\x00-\x09\x0b-\x1f\x7f]/);
		});
	}
});

describe('as it is installed', () => {
	let folder;
	let installed;

	before(async () => {
		folder = mkdtempSync(path.join(tmpdir(), 'urlmode command '));
		installed = await installCommand(folder);
		writeFileSync(path.join(folder, 'changelog'), 'urlmode (1.2.3) unstable; urgency=medium\n\n  * News.\n\n -- A <a@example.org>  Mon, 02 Jan 2006 15:04:05 +0000\n');
	});

	after(() => rmSync(folder, { recursive: true }));

	test('paths.sh.in has the places of paths.sh', () => {
		const names = (name) => sorted([...read(name).matchAll(/^(\w+)=/gm)].map(([, place]) => place).filter((place) => place !== 'tree'));
		assert.deepEqual(names('paths.sh.in'), names('paths.sh'));
	});

	test('version is that of the changelog, which it shows', async () => {
		for (const args of [['version'], ['--version']]) {
			assert.deepEqual(await urlmode(args, {}, installed), { status: 0, out: 'urlmode 1.2.3\n', err: '' });
		}
		assert.match((await urlmode(['version', '--changes'], {}, installed)).out, /^urlmode \(1\.2\.3\)[^]*News\./);
		execFileSync('gzip', ['-n', path.join(folder, 'changelog')]);
		writeFileSync(path.join(folder, 'libexec/paths.sh'), readFileSync(path.join(folder, 'libexec/paths.sh'), 'utf8').replace(/(?<=changelog)'$/m, ".gz'"));
		assert.equal((await urlmode(['version'], {}, installed)).out, 'urlmode 1.2.3\n');
	});

	test('its configuration is where it was installed for', async () => {
		const { status, err } = await urlmode(['keys', 'list'], {}, installed);
		assert.equal(status, 1);
		assert.ok(err.includes(path.join(folder, 'etc/urlmode/config.json')), err);
	});
});
