// A web server may pass a query without `=` as arguments (RFC 3875 section 4.4).
// So the programs have no option that prints anything of the configuration, and
// read none at all where they answer a request.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { BIN, PROGRAMS } from './deployment.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OPERATE = path.join(BIN, '../libexec/operate');
const PASSWORD = 'hunter2';
const SECRET = Buffer.alloc(32, 7).toString('base64');

/** What an operator may ask: the questions of the program behind the command. */
const QUESTIONS = [['config', 'database_url'], ['keys', 'keys'], ['socket', 'none.sock'], ['state', 'demo'], ['conninfo'], ['pages'], ['delivery', '--provider', 'pay', 'saved']];
/** What a query can become, and what the servers once understood. */
const HOSTILE = [
	...QUESTIONS, ...QUESTIONS.map(([first, ...rest]) => [`--${first}`, ...rest]),
	['--check'], ['--version'], ['--help'], ['--check', '--delivery', 'saved', '--provider', 'pay'], ['--listen', '/nonexistent/socket'], ['-h'], ['--'], ['state=x'], ['%s%n'],
];

let folder;

before(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'urlmode-arguments-'));
	const save = (name, text) => writeFileSync(path.join(folder, name), text, { mode: 0o600 });
	save('keys', `1 ${SECRET}\n`);
	save('saved', '\n{}');
	save('config.json', JSON.stringify({
		base_url: 'https://mcp.example.com', keys_file: 'keys', database_url: `host=/nonexistent password=${PASSWORD}`,
		user_check: 'confirm', log_file: 'log', metrics_file: 'metrics',
		providers: { demo: { kind: 'oauth' } },
	}));
});

after(() => rmSync(folder, { recursive: true }));

function run(file, args, env) {
	const { status, stdout, stderr } = spawnSync(file, args, {
		cwd: folder, encoding: 'utf8', input: '', env: { URLMODE_CONFIG: path.join(folder, 'config.json'), ...env },
	});
	return { status, stdout, stderr };
}

/** The public names of a layer, as its headers declare them. */
function namesOf(layer) {
	const headers = readdirSync(path.join(ROOT, 'lib', layer)).filter((name) => name.endsWith('.h'));
	return headers.flatMap((name) => readFileSync(path.join(ROOT, 'lib', layer, name), 'utf8').replaceAll(/\/\*[^]*?\*\//g, '').match(/\bum_\w+(?=\()/g) ?? []);
}

const symbolsOf = (file) => execFileSync('nm', [file], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n').map((line) => line.split(' ').at(-1));

for (const name of PROGRAMS) {
	describe(name, () => {
		const file = path.join(BIN, name);

		test('has the options --check, --help, --listen, --remote and --version, and no function of operate/', () => {
			// Machine code has a short one by chance.
			const options = readFileSync(file, 'latin1').match(/(?<=\0)--[a-z][a-z-]{2,}(?=\0)/g);
			assert.deepEqual([...new Set(options)].sort(), ['--check', '--help', '--listen', '--remote', '--version']);
			const symbols = symbolsOf(file);
			assert.ok(symbols.includes('um_program_main'));
			assert.deepEqual(namesOf('operate').filter((symbol) => symbols.includes(symbol)), []);
		});

		test('no argument changes the answer to a request', () => {
			for (const variable of [{ REQUEST_METHOD: 'GET' }, { GATEWAY_INTERFACE: 'CGI/1.1' }]) {
				const env = { ...variable, SCRIPT_NAME: '/nowhere', URLMODE_REQUEST_ID: 'a'.repeat(32) };
				const expected = run(file, [], env);
				assert.match(expected.stdout, /^Status: 40[45]\r\n/);
				for (const args of HOSTILE) {
					assert.deepEqual(run(file, args, env), expected, args.join(' '));
				}
			}
		});

		test('asked by hand, it prints nothing of the configuration', () => {
			for (const args of HOSTILE) {
				const { stdout, stderr } = run(file, args, {});
				for (const text of [PASSWORD, SECRET, 'mcp.example.com']) {
					assert.ok(!(stdout + stderr).includes(text), args.join(' '));
				}
			}
		});
	});
}

test('the program behind the command answers no CGI request', () => {
	assert.match(run(OPERATE, ['config', 'database_url'], {}).stdout, new RegExp(PASSWORD));
	for (const env of [{ REQUEST_METHOD: 'GET' }, { GATEWAY_INTERFACE: 'CGI/1.1' }]) {
		for (const args of QUESTIONS) {
			assert.deepEqual(run(OPERATE, args, env), { status: 1, stdout: '', stderr: 'urlmode: this is not a CGI program\n' });
		}
	}
});
