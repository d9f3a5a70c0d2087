// SPDX-License-Identifier: MIT
// What is generated from lib/contract is what its data say, and so is what is written by hand elsewhere.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { data, generated, read, tables } from '../../lib/contract/generate.mjs';
import { olderThan } from '../../lib/contract/hosts.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

for (const [file, text] of generated()) {
	test(`${file} is what make contract writes`, () => {
		assert.ok(read(file) === text, `${file} is old, or was changed by hand: run make contract`);
	});
}

for (const [file, text] of tables()) {
	test(`${file} has the limits of lib/contract`, () => {
		assert.ok(read(file) === text, `${file} has another limit. It is applied once: a new limit needs a new file in sql/tables`);
	});
}

/** The sources of each package, without its tests and examples. */
const PACKAGES = { js: ['lib/node/src', /\.js$/], py: ['lib/python/src', /\.py$/], go: ['lib/go', /(?<!_test)\.go$/] };

/** @type {(folder: string, ending: RegExp) => [string, string][]} files and their texts */
const sourcesIn = (folder, ending) => readdirSync(path.join(ROOT, folder), { recursive: true })
	.map((file) => path.join(folder, String(file))).filter((file) => ending.test(file) && !/\/(?:examples|adaptertest)\//.test(file)).map((file) => [file, read(file)]);

const CALLED = data('functions').filter(({ schema }) => schema === 'urlmode').map(({ name }) => name);
/** A call of one of the functions in a statement, on one line or several. */
const CALL = new RegExp(`\\b(?:SELECT|FROM|JOIN|CALL)\\b[^;'"\`]*?\\burlmode\\.(?:${CALLED.join('|')})\\s*\\(`);

for (const [folder, ending] of [...Object.values(PACKAGES), ['lib/api', /\.[ch]$/]]) {
	test(`${folder} has no call of a function of the database that is written by hand`, () => {
		const made = generated();
		const byHand = sourcesIn(folder, ending).filter(([file, text]) => !made.has(file) && CALL.test(text));
		assert.deepEqual(byHand.map(([file]) => file), [], 'say in lib/contract/calls.json who calls it, and run make contract');
	});
}

/** Statements of the frameworks, by file and name, with the function that each calls. */
const OF_FRAMEWORKS = sourcesIn('lib/node/src/frameworks', /\.js$/).flatMap(([file, text]) => [...text.matchAll(/^const (\w+) = '[^']*\burlmode_frameworks\.(\w+)\(/gm)]
	.map(([, name, called]) => ({ file, name, called, calls: [...text.matchAll(new RegExp(`\\(${name}, (.*)\\)`, 'g'))].map(([, values]) => values) })));

test('a statement of the frameworks is sent once more only if its function reads', () => {
	const reads = new Set(data('functions').filter(({ schema, reads }) => schema === 'urlmode_frameworks' && reads).map(({ name }) => name));
	assert.ok(OF_FRAMEWORKS.some(({ called }) => reads.has(called)));
	for (const { file, name, called, calls } of OF_FRAMEWORKS) {
		for (const values of calls) assert.equal(/, true\)*(?:\.|$)/.test(values), reads.has(called), `${file}: ${name} with ${values}`);
	}
});

/** How a generated file of each language declares a name. Those of a package of Go are used with its name. */
const DECLARED = {
	js: /^export (?:async )?(?:const|function|class) (\w+)/gm,
	py: /^(?:(?:async )?def |class )?([A-Za-z]\w*)(?=\(| = )/gm,
	go: /^(?:func |type |var |const |\t(?=[A-Z]\w* +(?:Code )?= ))(\w+)/gm,
	c: /^#define (UM_\w+)/gm,
};
const COMMENT = { js: /\/\*[^]*?\*\/|\/\/.*/g, py: /#.*/g, go: /\/\/.*/g, c: /\/\*[^]*?\*\//g };

for (const [language, declared] of Object.entries(DECLARED)) {
	test(`each generated name of ${language} is read somewhere`, () => {
		const made = generated();
		const files = (language === 'c' ? ['lib', 'cgi-bin'].flatMap((folder) => sourcesIn(folder, /\.[ch]$/)) : sourcesIn(...PACKAGES[language]))
			.map(([file, text]) => [file, text.replaceAll(COMMENT[language], '')]);
		const uses = new Map();
		for (const [, text] of files) for (const [word] of text.matchAll(/(?:\b(?:limits|seals|statements|texts|TEXTS)\.)?\w+/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
		const unread = files.filter(([file]) => made.has(file)).flatMap(([file, text]) => {
			const prefix = file.endsWith('contract-texts.js') ? 'TEXTS' : file.endsWith('contract_texts.py') ? 'texts' : /internal\/(limits|seals|statements|texts)\//.exec(file)?.[1];
			return [...text.matchAll(prefix === 'TEXTS' ? /^\t(\w+): /gm : declared)].map(([, name]) => name).filter((name) => (prefix ? !uses.has(`${prefix}.${name}`) : uses.get(name) < 2));
		});
		assert.deepEqual(unread, [], 'say in lib/contract who wants it');
	});
}

/** What a language has in quotes, on one line or continued, and what stands for a value in it. Comments are taken away before. */
const QUOTED = {
	js: { comments: /^\s*(?:\/\/|\/?\*).*$/gm, joins: /'\s*\+\s*'|`\s*\+\s*`/g, text: /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g, value: /\$\{[^}]*\}/g },
	py: { comments: /(= f?"""[^]*?""")|"""[^]*?"""|^\s*#.*$/gm, joins: /(?<!")"\s*\n\s*f?"(?!")/g, text: /"""([^]*?)"""|"((?:[^"\\\n]|\\.)*)"/g, value: /\{[^}]*\}/g },
	go: { comments: /^\s*\/\/.*$/gm, joins: /"\s*\+\s*"/g, text: /"((?:[^"\\\n]|\\.)*)"|`([^`]*)`/g, value: /%[-+#.\d]*[a-z]/g },
	c: { comments: /\/\*[^]*?\*\//g, joins: /"\s*\n\s*"/g, text: /"((?:[^"\\\n]|\\.)*)"/g, value: /%[-+#.*\d]*[hljz]*[a-z]/g },
	sh: { comments: /^\s*#.*$/gm, joins: /"\s*\\\n\s*"/g, text: /'([^'\n]*)'|"((?:[^"\\\n]|\\.)*)"/g, value: /\$\{\w+[^}]*\}|\$\w+/g },
};
const SOURCES = { ...PACKAGES, c: ['', /^(?:cgi-bin|lib\/(?!node|python|go)[^/]+)\/.*\.[ch]$/] };
/** Those of the shell, most of which have places that are generated: only what is outside of them is by hand. */
const shellFiles = () => [['sql/migrate', read('sql/migrate')], ...sourcesIn('nginx/command', /\.sh$/)].map(([file, text]) => [file, text.replace(/^# contract: texts\n[^]*?^# end\n/m, '')]);
const isWord = (part) => /[a-z]{2}/i.test(part);
const SQL = /\b(?:SELECT|FROM|SET) |\burlmode\.\w+\(/;

/** The texts of four words or more, without what is before them, and with members as if they had one name in all languages. */
function textsIn(language, source) {
	const { comments, joins, text, value } = QUOTED[language];
	return [...source.replaceAll(comments, (_, kept) => (typeof kept === 'string' ? kept : '')).replaceAll(joins, '').matchAll(text)].map(([, ...groups]) => groups.find((group) => group !== undefined))
		.filter((found) => !SQL.test(found))
		.flatMap((found) => (found.includes('\n') ? found.split(/\n\n|(?<=[.;:])\s/) : [found])) // A help is many texts.
		.map((found) => found.replaceAll(/\\n/g, ' ').replaceAll(value, '{}').replaceAll(/\\(.)/g, '$1').replace(/^(?:(?:urlmode|migrate): )?(?:\{\}[: ]*)?/, '').replaceAll('_', '').replaceAll(/\s+/g, ' ').trim().toLowerCase())
		.filter((found) => found.split(/\s+/).filter(isWord).length >= 4);
}

/** Texts that stand by hand all the same, each with its reason. */
const BY_HAND = new Map([['must be true or false', 'Python has True and False']]);

test('no text of four words stands by hand in two languages', () => {
	const made = generated();
	const found = new Map();
	for (const [language, [folder, ending]] of Object.entries({ ...SOURCES, sh: [] })) {
		const files = language === 'sh' ? shellFiles() : language === 'c' ? ['lib', 'cgi-bin'].flatMap((each) => sourcesIn(each, ending)) : sourcesIn(folder, ending);
		assert.ok(files.length > 20, language);
		for (const [file, source] of files) {
			for (const text of textsIn(language, source)) found.set(text, [...found.get(text) ?? [], { language, file, byHand: language === 'sh' || !made.has(file) }]);
		}
	}
	const twice = [...found].filter(([text, places]) => !BY_HAND.has(text) && places.some(({ byHand }) => byHand)
		&& (places.some(({ byHand }) => !byHand) || new Set(places.map(({ language }) => language)).size > 1));
	for (const text of BY_HAND.keys()) assert.ok(found.get(text)?.some(({ byHand }) => byHand), `${text} does not stand by hand any more`);
	assert.deepEqual(twice.map(([text, places]) => [text, ...places.filter(({ byHand }) => byHand).map(({ file }) => file)]), [], 'give it a name in lib/contract/texts.json');
});

/** The sources of each language that are written by hand. */
function byHandIn() {
	const made = generated();
	return Object.entries(SOURCES).map(([language, [folder, ending]]) => [language, (language === 'c' ? ['lib', 'cgi-bin'].flatMap((each) => sourcesIn(each, ending)) : sourcesIn(folder, ending))
		.filter(([file]) => !made.has(file))]);
}

/** What stands in two languages, with its files. @param {(language: string, text: string) => string[]} find what a source has */
function inTwo(find) {
	const found = new Map();
	for (const [language, files] of byHandIn()) {
		for (const [file, text] of files) for (const each of find(language, text)) found.set(each, [...found.get(each) ?? [], [language, file]]);
	}
	return [...found].filter(([, places]) => new Set(places.map(([language]) => language)).size > 1).map(([each, places]) => [each, ...places.map(([, file]) => file)]);
}

test('no statement of SQL stands by hand in two languages', () => {
	const wanted = /("{3}|["'`])((?:SELECT|LISTEN|INSERT|UPDATE|DELETE|WITH)\s[^]*?)(?<!\\)\1/g;
	const twice = inTwo((language, text) => [...text.replaceAll(QUOTED[language].joins, '').matchAll(wanted)].map(([, , sql]) => sql)
		.map((sql) => sql.replaceAll(/\$\{\w+\}|\{\w+\}/g, '{}').replaceAll(/%s|\$\d/g, '?').replaceAll(/::\w+| AS \w+/g, '').replaceAll(/\s+/g, ' ').trim())
		.filter((sql) => !/^LISTEN(?: \{\})?$/.test(sql))); // and the name of a channel
	assert.deepEqual(twice, [], 'give it a name in lib/contract/statements.json');
});

/** How a number gets a name. */
const NAMED = {
	js: /^(?:export )?const [A-Z][A-Z_\d]* = ([\d_.]+(?: \* [\d_]+)*);/gm,
	py: /^_?[A-Z][A-Z_\d]*(?:: \w+)? = ([\d_.]+(?: \* [\d_]+)*)$/gm,
	go: /^(?:const |\t)[a-z]\w* += ([\d_]+(?: ?\* ?[\d_]+)*)(?: ?\* ?time\.\w+)?(?: \/\/.*)?$/gm,
	c: /^#define [A-Z][A-Z_\d]* ([\d.]+(?: \* \d+)*)$/gm,
};

test('no number has a name by hand in two of the SDKs', () => {
	const own = Object.fromEntries(byHandIn().map(([language, files]) => [language, files.flatMap(([, text]) => [...text.matchAll(NAMED[language])]).length]));
	assert.ok(own.js > 10 && own.c > 100, JSON.stringify(own));
	const twice = inTwo((language, text) => (language === 'c' ? [] : [...text.matchAll(NAMED[language])].map(([, number]) => number.replaceAll('_', '').split('*').reduce((all, each) => all * Number(each), 1)))
		.filter((number) => number > 2));
	assert.deepEqual(twice, [], 'give it a name in lib/contract/limits.json');
});

test('no limit of five digits is written by hand in two of the SDKs', () => {
	const values = new Set(data('limits').limits.flatMap(({ value }) => [value, value / 1_000]).filter((value) => value >= 10_000 && value !== 60_000)); // a minute
	const twice = inTwo((language, text) => (language === 'c' ? [] : [...text.replaceAll(QUOTED[language].comments, '').matchAll(/(?<![\w.#])\d[\d_]{4,}\b(?!\.)/g)]
		.map(([number]) => Number(number.replaceAll('_', ''))).filter((number) => values.has(number))));
	assert.deepEqual(twice, [], 'lib/contract/limits.json has a name for it');
});

test('no code of JSON-RPC is written by hand in two of the SDKs', () => {
	const twice = inTwo((language, text) => [...text.replaceAll(COMMENT[language], '').replaceAll(/"{3}[^]*?"{3}/g, '').matchAll(/-32_?\d{3}\b/g)].map(([code]) => code));
	assert.deepEqual(twice, [], 'lib/contract/limits.json has a name for it');
});

test('no variable of the shell is a limit by hand', () => {
	const { limits } = data('limits');
	const byHand = shellFiles().flatMap(([file, text]) => [...text.matchAll(/^\s*(\w+)=(\d+)$/gm)].filter(([, name, number]) => limits.some((limit) => limit.value === Number(number)
		&& limit.name.split('_').includes(name) && !(limit.also?.[file] ?? []).some((each) => each.includes(`${name}={}`)))).map(([line]) => `${file}: ${line.trim()}`));
	assert.deepEqual(byHand, [], 'name it in `also` of lib/contract/limits.json');
});

test('no set of words, and not 2^53 - 1, is written by hand', () => {
	const quoted = data('words').words.filter(({ words }) => Array.isArray(words)).map(({ name, words }) => [name, new RegExp(`(["'])${words.join('\\1\\s*[,|]\\s*\\1')}\\1|\\(${words.join('\\|')}\\)|"${words.join('\\|')}"`)]);
	const patterns = [...quoted, ['safe_integer', /\b9_?007_?199_?254_?740_?991\b|2 ?\*\* ?53\b|\b1 ?<< ?53\b/]];
	const byHand = byHandIn().flatMap(([, files]) => files).flatMap(([file, text]) => patterns.filter(([, pattern]) => pattern.test(text)).map(([name]) => `${file}: ${name}`));
	assert.deepEqual(byHand, [], 'make contract writes them');
});

test('the statements of the programs have the parameters and columns of their functions', () => {
	const text = read('lib/postgres/batch.c');
	const typeOf = new Map([...text.matchAll(/^\tX\((\w+), (\w+),/gm)].map(([, name, type]) => [name, type === 'INT8' ? 'bigint' : type === 'BOOL' ? 'boolean' : type.toLowerCase()]));
	const statements = [...text.matchAll(/\{ UM_OP_\w+, "(\w+)",\s*((?:"[^"]*"\s*)+),\s*\{ ([\w,\s]+) \} \}/g)]
		.map(([, name, parts, parameters]) => ({ name, sql: parts.split('"').filter((_, n) => n % 2).join(''), parameters: parameters.split(/,\s*/) }));
	assert.ok(statements.length > 10);
	for (const { name, sql, parameters } of statements) {
		const f = data('functions').find((each) => each.schema === 'urlmode' && each.name === name);
		assert.ok(f.roles.includes('urlmode_cgi'), name);
		const [, columns = '', given] = /^SELECT (?:(.*?) FROM )?urlmode\.\w+\((.*?)\)/.exec(sql);
		const known = (f.columns ?? []).map((column) => column.name);
		assert.deepEqual(columns.split(', ').filter((column) => column && !known.includes(column)), [], name);
		if (f.parameters.length === 0) continue; // one row for each operation: FROM unnest($1)
		assert.equal(given, f.parameters.map((_, n) => `$${n + 1}`).join(', '), name);
		assert.deepEqual(parameters.map((parameter) => `${typeOf.get(parameter)}[]`), f.parameters.map(({ type }) => type), name);
	}
});

test('the rows about hosts have a way, a source and a date, and those that are old are found', () => {
	const { hosts } = data('hosts');
	for (const { host, way, sources, date } of hosts) {
		assert.ok(['request', 'error', 'text', 'unknown'].includes(way) && sources.length > 0 && /^20\d\d-\d\d-\d\d$/.test(date), host);
	}
	const named = [['2026-08-31', 'good'], ['2026-08-30', 'old'], ['2025-11-28', 'older']].map(([date, host]) => ({ date, host }));
	assert.deepEqual(olderThan({ hosts: named }, 90, new Date('2026-11-28T12:00:00Z')).map(({ host }) => host), ['old', 'older']);
});
