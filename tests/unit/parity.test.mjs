// Each public feature is in lib/contract/parity.json, with its name in each language, or why that has none. The names are those that the
// sources export.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import * as adapter from '../../lib/node/src/adapters/sdk2.js';
import { begunClaim } from '../../lib/node/src/core/lease.js';
import { UrlMode } from '../../lib/node/src/index.js';
import * as testing from '../../lib/node/src/testing.js';
import { Vault } from '../../lib/node/src/vault.js';

const at = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name) => readFileSync(at(name), 'utf8');
const { parts } = JSON.parse(read('lib/contract/parity.json'));

/** The methods of a class, and of those that it extends. Of an EventEmitter's own it has `on`. */
function methods(of) {
	const names = new Set();
	for (let each = of.prototype; each && ![Object.prototype, EventEmitter.prototype].includes(each); each = Object.getPrototypeOf(each)) {
		Object.getOwnPropertyNames(each).filter((name) => name !== 'constructor').forEach((name) => names.add(name));
	}
	return of.prototype instanceof EventEmitter ? [...names, 'on'] : [...names];
}

/** The public methods and attributes of each class of a package in Python, with those of the classes that it extends. */
const PYTHON = JSON.parse(execFileSync('python3', ['-c', `
import ast, json, pathlib, sys
classes = {}
for file in pathlib.Path(sys.argv[1]).glob("_*/*.py"):  # not those of urlmode.sync and urlmode.testing, which have the same names
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ClassDef):
            own = [each.name for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and each.name[0] != "_"]
            own += [each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and getattr(each.value, "id", "") == "self" and each.attr[0] != "_"]
            bases = [getattr(each, "id", getattr(each, "attr", "")) for each in node.bases]
            classes.setdefault(node.name, (own, bases))
def all_of(name):
    own, bases = classes.get(name, ([], []))
    return sorted({*own, *(each for base in bases for each in all_of(base))})
print(json.dumps({name: all_of(name) for name in classes}))`, at('lib/python/src/urlmode')], { encoding: 'utf8' }));

const inGo = (folder, form) => [...new Set(readdirSync(at(folder)).filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
	.flatMap((name) => [...read(`${folder}/${name}`).matchAll(form)].map(([, found]) => found)))];

const routes = [...read('cgi-bin/api.c').matchAll(/\.prefix = "\/v1\/(\w+)"/g)].map(([, name]) => name);

/** What a module in Python exports. */
const exported = (module) => [...(/__all__ = \[([^\]]*)\]/.exec(read(module))?.[1] ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => name);

/** The modules that users import, and the subcommands. */
const MODULES = {
	node: Object.keys(JSON.parse(read('lib/node/package.json')).exports).filter((name) => /^\.\/[\w-]+$/.test(name)).map((name) => name.replace('.', 'urlmode')),
	python: readdirSync(at('lib/python/src/urlmode')).filter((name) => /^[a-z]\w*\.py$/.test(name)).map((name) => `urlmode.${name.slice(0, -3)}`),
	go: readdirSync(at('lib/go'), { withFileTypes: true }).filter((entry) => entry.isDirectory() && !/^(internal|examples|copies|cmd|testdata)$/.test(entry.name)).map(({ name }) => `urlmode/${name}`),
};
const COMMANDS = {
	node: /COMMANDS = \{(.*)\}/.exec(read('lib/node/src/commands/main.js'))[1].split(',').map((each) => each.split(':')[0].trim()),
	python: [...new Set([...read('lib/python/src/urlmode/__main__.py').matchAll(/(?:usage: |^ {7})python -m urlmode (\w+)/gm)].map(([, name]) => name))],
	go: [...new Set([...read('lib/go/cmd/urlmode/main.go').matchAll(/given\[0\] == "(\w+)"/g)].map(([, name]) => name))],
};

const isNoValue = (name) => !['state', 'reference', 'fence'].includes(name); // of a claim

const PUBLIC = {
	node: {
		instance: methods(UrlMode), vault: methods(Vault), adapter: Object.keys(adapter), testing: Object.keys(testing),
		claim: Object.keys(begunClaim({ signal: undefined }, {})).filter(isNoValue),
	},
	python: { instance: PYTHON.UrlMode, claim: PYTHON.BegunClaim.filter(isNoValue), vault: PYTHON.Vault,
		adapter: exported('lib/python/src/urlmode/mcp.py').filter((name) => /^[a-z]/.test(name)),
		testing: exported('lib/python/src/urlmode/testing.py').filter((name) => name !== 'End'),
	},
	go: {
		instance: inGo('lib/go', /^func \(\w+ \*Instance\) ([A-Z]\w*)/gm), claim: inGo('lib/go', /^func \(\w+ \*Claim\) ([A-Z]\w*)/gm),
		vault: inGo('lib/go/vault', /^func \(\w+ \*Vault\) ([A-Z]\w*)/gm), adapter: inGo('lib/go/mcp', /^func (?:\(\w+ \*Tools\) )?([A-Z]\w*)/gm),
		testing: inGo('lib/go/urlmodetest', /^func ([A-Z]\w*)/gm),
	},
	http: {},
};
for (const language of ['node', 'python', 'go']) Object.assign(PUBLIC[language], { modules: MODULES[language], commands: COMMANDS[language] });

for (const [language, surface] of Object.entries(PUBLIC)) {
	for (const { name, rows, why = {} } of parts) {
		test(`${language} has what the table says of ${name}, and the table what it has`, () => {
			const told = rows.flatMap((row) => row[language]?.split(' ') ?? []);
			for (const row of rows) assert.ok(Boolean(row[language]) !== Boolean(row.why?.[language] ?? why[language]), `${row.says}: a name, or a reason`);
			if (language === 'http') return;
			assert.ok(surface[name].length > (name === 'commands' ? 0 : 4), `only ${surface[name]}`);
			assert.deepEqual([...new Set(told)].sort(), [...surface[name]].sort());
		});
	}
}

test('each method of the program api is in the table', () => {
	const told = parts.filter(({ name }) => name !== 'commands').flatMap(({ rows }) => rows.flatMap((row) => row.http?.split(' ') ?? []));
	assert.deepEqual([...new Set(told)].sort(), routes.sort());
});

const DOCUMENTS = {
	node: ['README.md', 'REFERENCE.md', 'ADAPTERS.md', 'VAULT.md'].map((name) => `lib/node/${name}`),
	python: ['README.md', 'REFERENCE.md', 'ADAPTERS.md'].map((name) => `lib/python/${name}`),
	go: ['lib/go/README.md'], http: ['nginx/API.md'],
};
/** The options of an instance. */
const OPTIONS = {
	node: [...read('lib/node/src/core/types.js').split('@typedef {object} UrlModeOptions')[1].split('@typedef')[0].matchAll(/@property \{.*\} \[?(\w+)/g)].map(([, name]) => name),
	python: [...read('lib/python/src/urlmode/_core/urlmode.py').split('def __init__(')[1].split(') -> None')[0].matchAll(/^ {8}(\w+): /gm)].map(([, name]) => name),
	go: [...read('lib/go/types.go').split('type Config struct {')[1].split('\n}')[0].matchAll(/^\t([A-Z]\w*) /gm)].map(([, name]) => name),
};

for (const [language, names] of Object.entries(DOCUMENTS)) {
	test(`the documents for ${language} name each of its public names, and each option of an instance`, () => {
		const text = names.map(read).join('');
		const told = [...parts.flatMap(({ rows }) => rows.flatMap((row) => row[language]?.split(' ') ?? [])), ...OPTIONS[language] ?? []];
		assert.ok(told.length > 20, `only ${told}`);
		assert.deepEqual(told.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)), []);
	});
}

test('the README of Node says what there is in other languages', () => {
	const [, said] = read('lib/node/README.md').split('\n## In another language\n');
	const names = ['Python', 'Go', 'official SDK', 'FastMCP', 'mcp-go', '../python/README.md', '../go/README.md', 'nginx/API.md', 'nginx/examples/wait.py'];
	assert.deepEqual(names.filter((name) => !said.includes(name)), []);
});
