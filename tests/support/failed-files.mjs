// A reporter of node's test runner: the files that had a test that failed, one a line. The tests of a table are at the table's
// place, so that the place of a test does not tell its file.

export default async function* failedFiles(events) {
	let file;
	const failed = new Set();
	for await (const { type, data } of events) {
		if (type === 'test:dequeue' && data.nesting === 0 && data.name === data.file) file = data.file;
		if (type === 'test:fail' && !failed.has(file)) {
			failed.add(file);
			yield `${file}\n`;
		}
	}
}
