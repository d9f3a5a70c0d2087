// Fails when a test that README.md beside this file names does not exist, or a
// line of its tables names none and does not say why it does not apply.
//
// A reference is `path` › title, the path from the top of the tree, and the
// title as it stands in the file: of a test or describe, of a row of a table
// of tests, the name of a scenario, or TEST(title) in C.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = path.join(ROOT, 'tests/security/README.md');
const REFERENCE = /`([\w./-]+\.(?:mjs|js|json|c))` › (.+?)(?=<br>|$)/g;

const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

function has(file, title) {
	const text = readFileSync(path.join(ROOT, file), 'utf8');
	if (file.endsWith('.c')) {
		// Defined, and registered.
		return new RegExp(`^TEST\\(${quoted(title)}\\)`, 'm').test(text) && text.split(new RegExp(`\\b${quoted(title)}\\b`)).length > 2;
	}
	if (file.endsWith('.json')) return JSON.parse(text).some(({ name }) => name === title);
	return new RegExp(`(?:\\w\\(|\\[)\\s*(['"\`])${quoted(title)}\\1`).test(text);
}

/** @returns {string[]} what is wrong */
function check(text) {
	const problems = [];
	let references = 0;

	for (const [index, line] of text.split('\n').entries()) {
		if (!line.startsWith('| ') || /^\| (?:What|CVE) \|/.test(line)) {
			continue;
		}
		const cell = line.replace(/\s*\|\s*$/, '').split(' | ').at(-1);
		const found = [...cell.matchAll(REFERENCE)];
		references += found.length;
		if (found.length === 0 && !/^Does not apply: \S/.test(cell)) {
			problems.push(`${index + 1}: names no test, nor why it does not apply`);
		}
		if ((cell.match(/›/g) ?? []).length !== found.length) {
			problems.push(`${index + 1}: a reference that cannot be read`);
		}
		for (const [, file, escaped] of found) {
			const title = escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>');
			if (!existsSync(path.join(ROOT, file))) {
				problems.push(`${index + 1}: there is no ${file}`);
			} else if (!has(file, title)) {
				problems.push(`${index + 1}: ${file} has no test “${title}”`);
			}
		}
	}
	if (references === 0) {
		problems.push('no reference found');
	}
	console.log(`${references} references`);
	return problems;
}

const problems = check(readFileSync(README, 'utf8'));
for (const problem of problems) {
	console.error(`tests/security/README.md:${problem}`);
}
process.exitCode = problems.length > 0 ? 1 : 0;
