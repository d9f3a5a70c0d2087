// Searches the memory of a process.

import { open, readFile } from 'node:fs/promises';

/** How often some bytes are in what a process can write. */
export async function occurrences(pid, bytes) {
	const memory = await open(`/proc/${pid}/mem`);
	let count = 0;
	try {
		for (const line of (await readFile(`/proc/${pid}/maps`, 'latin1')).split('\n')) {
			const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
			if (from === undefined) {
				continue;
			}
			const start = Number.parseInt(from, 16);
			const buffer = Buffer.alloc(Number.parseInt(to, 16) - start);
			await memory.read(buffer, 0, buffer.length, start);
			for (let at = buffer.indexOf(bytes); at >= 0; at = buffer.indexOf(bytes, at + 1)) {
				count += 1;
			}
		}
	} finally {
		await memory.close();
	}
	return count;
}

/** Why the memory of a process cannot be read, if it cannot. */
export function whyUnreadable(pid) {
	return open(`/proc/${pid}/mem`).then((memory) => void memory.close(), ({ message }) => message);
}
