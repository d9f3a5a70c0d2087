// Which lines of lib/ and cgi-bin/ the tests have run, from the counters that
// the programs of build/asan left in their .gcda files: a table of files, the
// lines that were not run in build/asan/missed.txt, and a failure where fewer
// than LINES_MIN percent were run.
//
//   coverage.mjs reset    empties the counters, and lets every user write them
//   coverage.mjs report

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const LINES_MIN = 95;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILD = path.join(ROOT, 'build/asan');
const OBJECTS = path.join(BUILD, 'obj');

const percent = (part, whole) => (whole === 0 ? 100 : 100 * part / whole);
const shown = (part, whole) => `${percent(part, whole).toFixed(1).padStart(6)} %`;

/** The objects of sources that still exist: paths below OBJECTS without an ending, like their sources. */
const objects = readdirSync(OBJECTS, { recursive: true })
	.filter((name) => name.endsWith('.gcno')).map((name) => name.slice(0, -'.gcno'.length))
	.filter((name) => existsSync(path.join(ROOT, `${name}.c`))).sort();

const countersOf = (name) => path.join(OBJECTS, `${name}.gcda`);

/** libgcov adds to the counters in a file, and takes an empty file for a new one. */
function reset() {
	for (const file of objects.map(countersOf)) {
		writeFileSync(file, '');
		chmodSync(file, 0o666);
	}
}

/**
 * What all objects have counted, by source and line. A test program may
 * include the source that it tests.
 *
 * @returns {Map<string, Map<number, number>>}
 */
function collect() {
	const sources = new Map();

	for (const name of objects) {
		const counters = countersOf(name);
		if (existsSync(counters) && statSync(counters).size === 0) {
			rmSync(counters); // gcov then counts every line as not run
		}
		const text = execFileSync('gcov', ['--json-format', '--stdout', path.join(OBJECTS, `${name}.gcno`)], {
			cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'],
		});
		for (const { file, lines } of text.trim().split('\n').flatMap((line) => JSON.parse(line).files)) {
			const source = path.relative(ROOT, path.resolve(ROOT, file));
			const counts = sources.get(source) ?? sources.set(source, new Map()).get(source);
			for (const { line_number: number, count } of lines) {
				counts.set(number, (counts.get(number) ?? 0) + count);
			}
		}
	}
	return sources;
}

function report() {
	const total = { lines: 0, run: 0 };
	const missed = [];
	const sources = collect();
	for (const source of objects.filter((name) => /^(lib|cgi-bin)\//.test(name)).map((name) => `${name}.c`)) {
		// One that has only data has no lines.
		const lines = [...sources.get(source) ?? []];
		const run = lines.filter(([, count]) => count > 0).length;

		console.log(`${shown(run, lines.length)}  ${source}`);
		missed.push(...lines.filter(([, count]) => count === 0).map(([number]) => `${source}:${number}`));
		total.lines += lines.length;
		total.run += run;
	}
	console.log(`${shown(total.run, total.lines)}  of all ${total.lines} lines`);
	writeFileSync(path.join(BUILD, 'missed.txt'), `${missed.join('\n')}\n`);
	if (percent(total.run, total.lines) < LINES_MIN) {
		console.error(`less than ${LINES_MIN} %; build/asan/missed.txt lists the lines that were not run`);
		process.exitCode = 1;
	}
}

({ reset, report })[process.argv[2]]();
