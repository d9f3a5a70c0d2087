// Puts mistakes into the code, one at a time, and runs the tests that must fail then.
//
//     make mutants                                   the named ones, then those of a seed, for SECONDS
//     node tests/mutants/mutants.mjs --named=lease   the named ones whose name has this expression
//     node tests/mutants/mutants.mjs --named='^$' --only=sql/functions/003 --seconds=300 --quick
//     node tests/mutants/mutants.mjs --named='^$' --again=FILE --seconds=900    those that survived in this output
//
//     node tests/mutants/mutants.mjs --named='^$' --only=sql/ --tests=tests/sql/       with some of the tests alone
//
// --quick runs those tests alone that are named after the file or use it. What survives in C is tried with the sanitizers.
//
// It needs the variables of a stack. All files are changed in a copy of the tree, below
// build/mutants; SQL is changed in the database of the stack, too.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { Random } from '../model/random.mjs';
import { SqlFiles } from '../sql/files.mjs';
import { EQUIVALENT } from './equivalent.mjs';
import { NAMED } from './named.mjs';
import { mistakesIn, placeOf, withMistake } from './operators.mjs';
import { filesIn, languageOf, read, ROOT, testsOf } from './tests.mjs';
import { Tree } from './tree.mjs';

const KILLED = 0.95;

const { values: options } = parseArgs({ options: {
	named: { type: 'string' }, only: { type: 'string', default: '' }, quick: { type: 'boolean' }, again: { type: 'string' },
	tests: { type: 'string', default: '' }, seed: { type: 'string' }, seconds: { type: 'string', default: process.env.SECONDS ?? '900' },
} });
const seed = options.seed ?? process.env.SEED ?? '1';
/** Without any of these, --named is all that is asked for. */
const triesSeed = options.named === undefined || options.only !== '' || options.seed !== undefined || options.again !== undefined;

class Sql {
	static async open() {
		const sql = new Sql();
		// Some tests end all connections of the stack: then the next statement has another one.
		const pool = (connectionString) => new pg.Pool({ connectionString, max: 1 }).on('error', () => {});
		sql.client = pool(process.env.URLMODE_ADMIN_DATABASE_URL);
		sql.files = await SqlFiles.open(process.env.URLMODE_ADMIN_DATABASE_URL);
		sql.ofFiles = pool(sql.files.url);
		return sql;
	}

	async close() {
		await this.client.end();
		await this.ofFiles.end();
		await this.files.close();
	}

	/** The function at this place of the text is that of both databases. Returns whether PostgreSQL takes it. */
	async use(text, at) {
		const begin = text.lastIndexOf('CREATE OR REPLACE FUNCTION', at);
		const statement = text.slice(begin, text.indexOf('$$;', at) + 3);
		return this.ofFiles.query(statement).then(() => this.client.query(statement)).then(() => true, () => false);
	}
}

/** @returns {Promise<{ verdict: 'killed' | 'survived' | 'no mistake', by?: string }>} */
async function tryMistake(file, mistake, tests) {
	const text = read(file);
	const changed = withMistake(text, mistake);
	const isSql = languageOf(file) === 'sql';
	// Some tests start a stack of their own, whose database has what is in the copy.
	const put = async (content) => {
		tree.write(file, content);
		if (content === text) await tree.mend();
		return isSql ? sql.use(content, mistake.at) : true;
	};
	undo = () => put(text);
	try {
		if (!await put(changed) || !isSql && !await tree.compiles(file)) return { verdict: 'no mistake' };
		for (const test of tests) {
			if (!tree.isKnown(test, file)) {
				await put(text);
				await tree.known(test, file);
				await put(changed);
			}
			if (!(await tree.known(test, file)).passes || !await tree.covers(test, file, mistake)) continue;
			if (!await tree.passes(test, file)) return { verdict: 'killed', by: test };
		}
		if (languageOf(file) === 'c') {
			for (const test of tests) {
				if (!(await tree.known(test, file)).passes || await tree.passesSanitized(test, file)) continue;
				// The sanitizers may dislike a test without a mistake, too.
				await put(text);
				const isFound = await tree.passesSanitized(test, file);
				await put(changed);
				if (isFound) return { verdict: 'killed', by: `${test}, with sanitizers` };
			}
		}
		return { verdict: 'survived' };
	} finally {
		await put(text);
	}
}

/** Those of the tests that are asked for. */
const some = (tests) => tests.filter((test) => new RegExp(options.tests).test(test));

function named() {
	return NAMED.filter(({ what }) => options.named === undefined || new RegExp(options.named).test(what)).map(({ what, file, before, after, tests }) => {
		const text = read(file);
		if (text.split(before).length !== 2) throw new Error(`${what}: ${file} has not once the text ${before}`);
		return { what, file, mistake: { at: text.indexOf(before), before, after }, tests: some(tests ?? testsOf(file)) };
	});
}

/** All mistakes, in the order of the seed. */
function ofSeed() {
	const random = new Random(Number(seed));
	const files = [...filesIn('sql/functions', '.sql'), ...filesIn('sql/frameworks/functions', '.sql'), ...filesIn('lib/node/src', '.js'),
		...readdirSync(join(ROOT, 'lib')).filter((folder) => !['node', 'python', 'go', 'providers', 'pages'].includes(folder) && !folder.includes('.'))
			.flatMap((folder) => filesIn(join('lib', folder), '.c'))];
	let all = files.filter((file) => some(testsOf(file, options.quick)).length > 0).flatMap((file) => {
		const text = read(file);
		const isInside = ({ at }) => languageOf(file) !== 'sql'
			|| /^CREATE OR REPLACE FUNCTION/.test(text.slice(text.lastIndexOf('\nCREATE', at) + 1)) && text.lastIndexOf('AS $$', at) > text.lastIndexOf('$$;', at);
		return mistakesIn(text, languageOf(file)).filter(isInside).map((mistake) => ({ file, mistake, tests: some(testsOf(file, options.quick)), order: random.number() }));
	});
	// As many of each language.
	const rank = {};
	for (const each of all.sort((one, other) => one.order - other.order)) {
		const language = languageOf(each.file);
		each.rank = rank[language] = (rank[language] ?? 0) + 1;
	}
	all.sort((one, other) => one.rank - other.rank);
	// The order of the seed is the same for each --only.
	all = all.filter(({ file }) => new RegExp(options.only).test(file));
	if (options.again === undefined) return all;
	const survived = new Set(readFileSync(options.again, 'utf8').split('\n').filter((line) => line.startsWith('survived')).map((line) => line.slice(11)));
	return all.filter(({ file, mistake }) => survived.has(nameOf(file, mistake)));
}

function nameOf(file, mistake) {
	const { line, shown } = placeOf(read(file), mistake);
	return `${file}:${line}: ${shown}`;
}

/** Whether it is known that the program does the same with this mistake. */
const isEquivalent = (file, { before }, shown) => EQUIVALENT.some((each) => (
	each.file === file && each.line === shown && (each.before ?? before) === before));

async function run(mutants, until) {
	const counts = { killed: 0, survived: 0, equivalent: 0, 'no mistake': 0 };
	for (const { what, file, mistake, tests } of mutants) {
		if (Date.now() > until) break;
		const { shown } = placeOf(read(file), mistake);
		const { verdict, by } = isEquivalent(file, mistake, shown) ? { verdict: 'equivalent' } : await tryMistake(file, mistake, tests);
		counts[verdict] += 1;
		console.log(`${verdict.padEnd(10)} ${what ?? nameOf(file, mistake)}${by ? `  [${by}]` : ''}`);
	}
	return counts;
}

const sql = await Sql.open();
const tree = new Tree(sql.files);
/** Takes the mistake of this moment out of the database. */
let undo = async () => {};
for (const signal of ['SIGINT', 'SIGTERM']) {
	process.once(signal, () => Promise.resolve(undo()).finally(() => {
		tree.remove();
		process.exit(1);
	}));
}
let failed = false;
try {
	const { survived } = await run(named(), Infinity);
	failed = survived > 0;
	if (triesSeed) {
		const { killed, survived: left, equivalent } = await run(ofSeed(), Date.now() + Number(options.seconds) * 1_000);
		console.log(`seed ${seed}: ${killed} of ${killed + left} killed, and ${equivalent} that change nothing`);
		failed ||= killed < KILLED * (killed + left);
	}
} finally {
	await sql.close();
	tree.remove();
}
process.exitCode = failed ? 1 : 0;
