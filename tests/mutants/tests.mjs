// Which tests must find a mistake in a file.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const languageOf = (file) => ({ '.c': 'c', '.js': 'js', '.sql': 'sql' })[file.match(/\.\w+$/)[0]];

/** @type {Map<string, string>} the copy is of the same moment */
const texts = new Map();

/** What a file has at first, although it may be edited while the tests run. */
export function read(file) {
	if (!texts.has(file)) texts.set(file, readFileSync(join(ROOT, file), 'utf8'));
	return texts.get(file);
}

export const filesIn = (folder, end) => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(end)).map((name) => join(folder, name));

/** The files of tests/sql that test each part of the SQL, before the others that are there. */
const SQL_FILES = {
	'002': ['browser'], '003': ['money', 'refunds'], '004': ['claims'], '005': ['retention'], '006': ['create'], '007': ['browser'], '008': ['events', 'money'],
	'009': ['waits'], '015': ['unknown'], '016': ['forms'], '018': ['refunds', 'disputes'], '024': ['unreadable'],
	'029': ['recheck', 'reconcile'], '030': ['items'], '031': ['ledger'], '032': ['entitlements'],
};
/** The same of lib/node/test. */
const SQL_TESTS = {
	'002': ['sql', 'create', 'wait', 'form', 'payment'], '003': ['refund', 'payment', 'request', 'unknown-event', 'claims', 'claims-kept'], '004': ['claims', 'claims-kept', 'refund', 'payment', 'adapters-claim', 'owner'],
	'005': ['purge', 'claims', 'payment'], '006': ['create', 'request', 'create-together', 'payment', 'sql'],
	'007': ['sql', 'owner', 'wait', 'payment'], '008': ['refund', 'payment', 'unknown-event', 'recheck', 'request'],
	'009': ['sql', 'wait', 'recheck', 'payment', 'wait-abandon', 'refund', 'form', 'approval'], '010': ['client-requests'], '011': ['client-requests'], '012': ['storage'],
	'014': ['vault', 'vault-exchange', 'vault-refresh', 'vault-disconnect', 'vault-lost', 'vault-keys'], '015': ['unknown-event', 'refund'],
	'016': ['form', 'approval', 'adapters-form'], '018': ['refund', 'unknown-event'],
	'029': ['recheck'], '031': ['ledger'], '032': ['entitlements'],
};
/** The same of tests/e2e. These are slow, and come last. */
const SQL_E2E = {
	'003': ['events', 'money', 'money-proof', 'money-back'], '004': ['answers', 'money'], '005': ['retention'], '006': ['loud', 'database'],
	'007': ['database', 'flow'], '008': ['events', 'money', 'money-proof'], '009': ['database', 'money-recheck', 'waiting'],
	'011': ['retention'], '013': ['../operate/command', '../operate/command-decide', '../operate/reconcile'],
	'015': ['events'], '016': ['form-names', 'form-users', 'forms'], '018': ['money-back', 'events'], '024': ['unreadable'],
};

/** The tests of the programs, by the folders of lib/ whose tests in C leave out most modules. */
const PROGRAM_TESTS = {
	api: () => filesIn('tests/e2e', '.test.mjs').filter((test) => /\/api(?!-alone|-example)/.test(test)),
	console: () => ['tests/e2e/console.test.mjs', 'tests/operate/command-check-console.test.mjs'],
	form: () => filesIn('tests/e2e', '.test.mjs').filter((test) => /\/form/.test(test)),
	operate: () => ['tests/unit/check-delivery.test.mjs', ...filesIn('tests/operate', '.test.mjs').filter((test) => /\/(?:command|reconcile)(?!-setup|-check-(?:api|console))/.test(test))],
};

const TESTS_OF = {
	c(file, name) {
		const units = filesIn('tests/unit', '.c').filter((unit) => basename(unit).startsWith('test_'));
		const header = `${dirname(file).split('/').pop()}/${name}.h`;
		const own = units.filter((unit) => new RegExp(`test_${name}(_.*)?\\.c$`).test(unit));
		// Most others are one program. Those of the programs start a stack, and come last.
		return [own, units.filter((unit) => read(unit).includes(header)), ['tests/tools/units.c', ...PROGRAM_TESTS[file.split('/')[1]]?.() ?? []]];
	},
	js(file, name) {
		// Makes hundreds of thousands of calls: last, and only where nothing else finds it.
		const last = 'lib/node/test/memory.test.js';
		const tests = filesIn('lib/node/test', '.test.js').filter((test) => test !== last);
		// What each language does is asserted once, in the table.
		const table = ['waiting', 'vault'].map((each) => `tests/waiting/${each}.test.mjs`);
		return [tests.filter((test) => basename(test).startsWith(`${name}.`)), tests.filter((test) => read(test).includes(`/${name}.js'`)), [...tests, ...table, last]];
	},
	sql(file, name) {
		const part = name.slice(0, 3);
		const files = (SQL_FILES[part] ?? []).map((test) => `tests/sql/${test}.sql`);
		const fits = (test) => existsSync(join(ROOT, test)) && basename(test) !== 'support.sql';
		return [[...files, ...files.length > 0 ? filesIn('tests/sql', '.sql') : []].filter(fits), (SQL_TESTS[part] ?? []).map((test) => `lib/node/test/${test}.test.js`), (SQL_E2E[part] ?? []).map((test) => join('tests/e2e', `${test}.test.mjs`))];
	},
};

/**
 * The tests that are named after a file, those that use it, and then, unless it must be quick, all others that may find the
 * mistake; each as a path from the root.
 */
export function testsOf(file, isQuick = false) {
	const [own, users, others] = TESTS_OF[languageOf(file)](file, basename(file).replace(/\.\w+$/, ''));
	return [...new Set([...own, ...users, ...isQuick ? [] : others])];
}
