// The migrations of the last release, which never change: migrations.txt beside this file, with the digest of each.
//
//     node tests/support/migrations.mjs          before 1.0.0, when a file has changed
//     node tests/support/migrations.mjs 1.0.0    at each release
//
// writes that file anew. A database knows the digest of each file that it has (sql/tables/055_digest.sql).

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { migrationDigests } from '../../lib/node/src/commands/migrations.js';

const FILE = new URL('migrations.txt', import.meta.url);

/** @returns {{ release: string, digests: Record<string, string> }} */
export function released() {
	const [release, ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n');
	return { release, digests: Object.fromEntries(lines.map((line) => line.split('  ').reverse())) };
}

/** What is not as it was released, or is not there any more. */
export const changed = (digests, now = migrationDigests()) => Object.keys(digests).filter((name) => digests[name] !== now[name]);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const lines = Object.entries(migrationDigests()).map(([name, digest]) => `${digest}  ${name}`);
	writeFileSync(FILE, `${[process.argv[2] ?? 'none', ...lines].join('\n')}\n`);
}
