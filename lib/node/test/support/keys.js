// Keys files of a test's own.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @param {number} kid */
export function keyLine(kid, secret = randomBytes(32)) {
	return `${kid} ${secret.toString('base64')}\n`;
}

/** A folder that is gone after the test. */
export function scratchFolder(t) {
	const folder = mkdtempSync(join(tmpdir(), 'urlmode-test-'));
	t.after(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/** Puts the content in place at once, as an operator's tool should. */
export function writeKeys(file, content, mode = 0o600) {
	writeFileSync(`${file}.new`, content, { mode });
	renameSync(`${file}.new`, file);
}

export function scratchKeys(t, content = keyLine(1), mode = 0o600) {
	const file = join(scratchFolder(t), 'keys');
	writeFileSync(file, content, { mode });
	return file;
}
