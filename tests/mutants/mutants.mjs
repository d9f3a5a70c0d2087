// Puts mistakes into the code, one at a time, and runs the tests that must fail then.
//
//     make mutants                                   the named ones, then those of a seed, for SECONDS
//     node tests/mutants/mutants.mjs --named=lease   the named ones whose name has this expression
//     node tests/mutants/mutants.mjs --named='^$' --only=sql/003 --seconds=300
//
// It needs the variables of a stack. C and JavaScript are changed in a copy of the tree,
// below build/mutants; SQL is changed in the database of the stack.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { Random } from '../model/random.mjs';
import { NAMED } from './named.mjs';
import { mistakesIn, placeOf, withMistake } from './operators.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = join(ROOT, 'build/mutants');
/** The changed copy. */
const TREE = join(OUT, `tree-${process.pid}`);
/** A test file that takes longer has found the mistake. */
const PATIENCE_MS = 180_000;
const KILLED = 0.95;

const { values: options } = parseArgs({ options: {
	named: { type: 'string' }, only: { type: 'string', default: '' },
	seed: { type: 'string', default: process.env.SEED ?? '1' }, seconds: { type: 'string', default: process.env.SECONDS ?? '900' },
} });

const languageOf = (file) => ({ '.c': 'c', '.js': 'js', '.sql': 'sql' })[file.match(/\.\w+$/)[0]];
const read = (file) => readFileSync(join(ROOT, file), 'utf8');
const filesIn = (folder, end) => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(end)).map((name) => join(folder, name));

/** The files of lib/node/test that test each part of the SQL. */
const SQL_TESTS = {
	'003': ['refund', 'payment', 'request', 'unknown-event', 'claims'], '004': ['claims', 'refund', 'payment', 'adapters-claim'],
	'005': ['purge', 'claims', 'payment'], '006': ['create', 'request', 'create-together', 'payment', 'sql'],
	'007': ['sql', 'owner', 'wait'], '008': ['refund', 'payment', 'unknown-event', 'recheck', 'request'],
	'009': ['sql', 'wait', 'recheck', 'payment', 'wait-abandon', 'refund'], '010': ['client-requests'], '012': ['storage'],
	'014': ['vault', 'vault-exchange', 'vault-refresh', 'vault-disconnect'],
	'015': ['unknown-event', 'refund'],
};
/** The same of tests/e2e. These are slow, and come last. */
const SQL_E2E = {
	'003': ['events', 'money', 'money-proof', 'money-back'], '004': ['answers', 'money'], '005': ['retention'], '006': ['loud', 'database'],
	'007': ['database', 'flow'], '008': ['events', 'money', 'money-proof'], '009': ['database', 'money-recheck', 'waiting'],
	'010': ['adapters-postgresql'], '011': ['adapters-postgresql'], '012': ['adapters-postgresql'], '013': ['../operate/command', '../operate/command-decide'],
	'015': ['events'],
};

/** The tests that are named after a file, and then those that use it; each is a file, below the copy. */
function testsOf(file) {
	const name = basename(file).replace(/\.\w+$/, '');
	switch (languageOf(file)) {
	case 'c': {
		const units = filesIn('tests/unit', '.c').filter((unit) => basename(unit).startsWith('test_'));
		const header = `${dirname(file).split('/').pop()}/${name}.h`;
		const own = units.filter((unit) => new RegExp(`test_${name}(_.*)?\\.c$`).test(unit));
		return [...new Set([...own, ...units.filter((unit) => read(unit).includes(header))])];
	}
	case 'js': {
		const tests = filesIn('lib/node/test', '.test.js');
		const own = tests.filter((test) => basename(test).startsWith(`${name}.`));
		const users = tests.filter((test) => read(test).includes(`/${name}.js'`));
		return [...new Set([...own, ...users, ...tests])];
	}
	default: {
		const part = name.slice(0, 3);
		return [...(SQL_TESTS[part] ?? []).map((test) => `lib/node/test/${test}.test.js`),
			...(SQL_E2E[part] ?? []).map((test) => join('tests/e2e', `${test}.test.mjs`))];
	}
	}
}

function copyTree() {
	mkdirSync(TREE, { recursive: true });
	execFileSync('sh', ['-c', 'git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$1"', 'sh', TREE], { cwd: ROOT });
	// What is built of C is as good for the copy.
	for (const built of ['obj', 'unit', 'texts', 'liburlmode.a']) {
		if (existsSync(join(ROOT, 'build', built))) cpSync(join(ROOT, 'build', built), join(TREE, 'build', built), { recursive: true, preserveTimestamps: true });
	}
	for (const folder of ['tests', 'lib/node']) {
		const modules = join(ROOT, folder, 'node_modules');
		mkdirSync(join(TREE, folder, 'node_modules'));
		// The package urlmode itself is a link beside them.
		for (const name of existsSync(modules) ? readdirSync(modules) : []) {
			symlinkSync(name === 'urlmode' ? '../../lib/node' : join(modules, name), join(TREE, folder, 'node_modules', name));
		}
	}
}

/** @returns {Promise<boolean>} whether it ended well, in time */
function passes(program, args) {
	const child = spawn(program, args, { cwd: TREE, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
	const stop = () => {
		try {
			process.kill(-child.pid, 'SIGKILL');
		} catch {
			// It has ended.
		}
	};
	const timer = setTimeout(stop, PATIENCE_MS);
	// The first test that fails is enough.
	child.stdout.on('data', (data) => /^not ok /m.test(data) && stop());
	return new Promise((resolve) => child.once('exit', (code) => {
		clearTimeout(timer);
		resolve(code === 0);
	}));
}

async function testPasses(test) {
	if (!test.endsWith('.c')) return passes('node', ['--test', '--test-reporter=tap', test]);
	const unit = `build/unit/${basename(test, '.c')}`;
	return passes('make', ['-s', unit]).then((made) => made && passes(unit, []));
}

/** Whether the copy still compiles: what does not is no mistake that anybody would commit. */
function compiles(file) {
	return languageOf(file) === 'c' ? passes('make', ['-s', `build/obj/${file.replace(/c$/, 'o')}`]) : passes('node', ['--check', file]);
}

class Sql {
	static async open() {
		const sql = new Sql();
		sql.client = new pg.Client({ connectionString: process.env.URLMODE_ADMIN_DATABASE_URL });
		await sql.client.connect();
		return sql;
	}

	/** The functions of this text are those of the database. Returns whether PostgreSQL takes them. */
	async use(text, at) {
		const begin = text.lastIndexOf('CREATE FUNCTION', at);
		const statement = text.slice(begin, text.indexOf('$$;', at) + 3).replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');
		return this.client.query(statement).then(() => true, () => false);
	}
}

/** @returns {Promise<'killed' | 'survived' | 'no mistake'>} */
async function tryMistake(sql, file, mistake, tests) {
	const text = read(file);
	const changed = withMistake(text, mistake);
	const isSql = languageOf(file) === 'sql';
	if (!isSql) writeFileSync(join(TREE, file), changed);
	try {
		if (!await (isSql ? sql.use(changed, mistake.at) : compiles(file))) return 'no mistake';
		for (const test of tests) if (!await testPasses(test)) return 'killed';
		return 'survived';
	} finally {
		if (isSql) await sql.use(text, mistake.at);
		else writeFileSync(join(TREE, file), text);
	}
}

function named() {
	return NAMED.filter(({ what }) => options.named === undefined || new RegExp(options.named).test(what)).map(({ what, file, before, after, tests }) => {
		const text = read(file);
		if (text.split(before).length !== 2) throw new Error(`${what}: ${file} has not once the text ${before}`);
		return { what, file, mistake: { at: text.indexOf(before), before, after }, tests: tests ?? testsOf(file) };
	});
}

/** All mistakes, in the order of the seed. */
function ofSeed() {
	const random = new Random(Number(options.seed));
	const files = [...filesIn('sql', '.sql'), ...filesIn('lib/node/src', '.js'),
		...readdirSync(join(ROOT, 'lib')).filter((folder) => !['node', 'providers', 'pages'].includes(folder) && !folder.includes('.'))
			.flatMap((folder) => filesIn(join('lib', folder), '.c'))];
	const all = files.filter((file) => file.includes(options.only) && testsOf(file).length > 0).flatMap((file) => {
		const text = read(file);
		const isInside = ({ at }) => languageOf(file) !== 'sql'
			|| /^CREATE FUNCTION/.test(text.slice(text.lastIndexOf('\nCREATE', at) + 1)) && text.lastIndexOf('AS $$', at) > text.lastIndexOf('$$;', at);
		return mistakesIn(text, languageOf(file)).filter(isInside).map((mistake) => ({ file, mistake, tests: testsOf(file), order: random.number() }));
	});
	// As many of each language.
	const rank = {};
	for (const each of all.sort((one, other) => one.order - other.order)) {
		const language = languageOf(each.file);
		each.rank = rank[language] = (rank[language] ?? 0) + 1;
	}
	return all.sort((one, other) => one.rank - other.rank);
}

async function run(mutants, until) {
	const counts = { killed: 0, survived: 0, 'no mistake': 0 };
	for (const { what, file, mistake, tests } of mutants) {
		if (Date.now() > until) break;
		const { line, shown } = placeOf(read(file), mistake);
		const verdict = await tryMistake(sql, file, mistake, tests);
		counts[verdict] += 1;
		console.log(`${verdict.padEnd(10)} ${what ?? `${file}:${line}: ${shown}`}`);
	}
	return counts;
}

copyTree();
const sql = await Sql.open();
let failed = false;
try {
	const { survived } = await run(named(), Infinity);
	failed = survived > 0;
	if (options.named === undefined || options.only !== '') {
		const { killed, survived: left } = await run(ofSeed(), Date.now() + Number(options.seconds) * 1_000);
		console.log(`seed ${options.seed}: ${killed} of ${killed + left} killed`);
		failed ||= killed < KILLED * (killed + left);
	}
} finally {
	await sql.client.end();
	rmSync(TREE, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
