// A reporter of node's test runner: TAP, and behind a test that failed a comment with its file, where that was not named yet. The tests
// of a table are at the table's place, so that the place of a test does not tell its file. A reporter more, beside this one and
// what people read, would be one listener too many for Node.js, which warns of it.

import { tap } from 'node:test/reporters';

export default async function* tapWithFiles(events) {
	const named = new Set();
	const unnamed = [];
	let file;
	async function* seen() {
		for await (const event of events) {
			const { type, data } = event;
			if (type === 'test:dequeue' && data.nesting === 0 && data.name === data.file) file = data.file;
			if (type === 'test:fail' && !named.has(file)) {
				named.add(file);
				unnamed.push(file);
			}
			yield event;
		}
	}
	for await (const text of tap(seen())) {
		yield text;
		for (const each of unnamed.splice(0)) yield `# file that failed: ${each}\n`;
	}
}
