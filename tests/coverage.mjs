// What of lib/ and cgi-bin/ the tests have run, out of the counters that the
// programs of build/coverage left: a table of lines and branches, the lines
// that were not run in build/coverage/missed.txt, and a failure under LINES_MIN.
//
//   coverage.mjs reset    empty counters, which any user's process can write
//   coverage.mjs report

import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const LINES_MIN = 95;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILD = path.join(ROOT, 'build/coverage');
const FOLDERS = ['lib', 'cgi-bin'];

const percent = (part, whole) => (whole === 0 ? 100 : 100 * part / whole);
const shown = (part, whole) => `${percent(part, whole).toFixed(1).padStart(6)} %`;

function files(ending) {
	return readdirSync(path.join(BUILD, 'obj'), { recursive: true })
		.filter((name) => name.endsWith(ending)).map((name) => path.join(BUILD, 'obj', name));
}

/** gcov merges into what is there, and takes an empty file for a new one. */
function reset() {
	for (const notes of files('.gcno')) {
		const counters = notes.replace(/\.gcno$/, '.gcda');
		writeFileSync(counters, '');
		chmodSync(counters, 0o666);
	}
}

/**
 * What every object has counted of the sources: source → line → { count, ways }.
 * A unit test may include the source that it tests.
 */
function collect() {
	const sources = new Map();

	for (const counters of files('.gcda')) {
		if (statSync(counters).size === 0) {
			rmSync(counters); // gcov then says what was never run
		}
	}
	for (const notes of files('.gcno')) {
		const text = execFileSync('gcov', ['--json-format', '--stdout', '--branch-probabilities', notes], {
			cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'],
		});
		for (const { file, lines } of text.trim().split('\n').flatMap((line) => JSON.parse(line).files)) {
			const source = path.relative(ROOT, path.resolve(ROOT, file));
			if (!sources.has(source)) {
				sources.set(source, new Map());
			}
			lines.forEach((line) => add(sources.get(source), line));
		}
	}
	return sources;
}

function add(lines, { line_number: number, count, branches }) {
	const line = lines.get(number) ?? { count: 0, ways: [] };
	line.count += count;
	branches.forEach((way, index) => {
		line.ways[index] = (line.ways[index] ?? 0) + way.count;
	});
	lines.set(number, line);
}

function report() {
	const total = { lines: 0, run: 0, branches: 0, taken: 0 };
	const missed = [];
	const sources = collect();
	console.log('  lines    branches');
	for (const source of FOLDERS.flatMap((folder) => readdirSync(path.join(ROOT, folder))
		.filter((name) => name.endsWith('.c')).sort().map((name) => `${folder}/${name}`))) {
		const lines = sources.get(source);
		const branches = [...lines.values()].flatMap(({ ways }) => ways);
		const run = [...lines.values()].filter(({ count }) => count > 0).length;
		const taken = branches.filter((count) => count > 0).length;

		console.log(`${shown(run, lines.size)}  ${shown(taken, branches.length)}  ${source}`);
		missed.push(...[...lines].filter(([, { count }]) => count === 0).map(([number]) => `${source}:${number}`));
		total.lines += lines.size;
		total.run += run;
		total.branches += branches.length;
		total.taken += taken;
	}
	console.log(`${shown(total.run, total.lines)}  ${shown(total.taken, total.branches)}  all of ${total.lines} lines`);
	writeFileSync(path.join(BUILD, 'missed.txt'), `${missed.join('\n')}\n`);
	if (percent(total.run, total.lines) < LINES_MIN) {
		console.error(`under ${LINES_MIN} % of lines; build/coverage/missed.txt has the others`);
		process.exitCode = 1;
	}
}

({ reset, report })[process.argv[2]]();
