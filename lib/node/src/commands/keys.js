// urlmode keys: the keys file of an MCP server. Keys are rotated where the
// callback programs are, and the file is copied.

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';

import { KeysFile } from '../core/keys.js';
import { KEYS_FILE, required } from './environment.js';
import { printable } from './printable.js';
import { UsageError } from './usage-error.js';

export const help = `usage: urlmode keys list [FILE]
       urlmode keys new FILE

  list  the keys of a keys file, the one of URLMODE_KEYS_FILE by default: the
        first one seals, all of them open. No secret is shown
  new   writes a keys file with one new key, which only its owner can read

Both sides have the same keys. They are rotated where the callback programs are
(urlmode keys rotate), and the file is copied to the MCP servers.
`;

/** @param {string[]} args */
export async function run([verb, file, ...more]) {
	if (more.length === 0 && verb === 'list') return list(file ?? required('URLMODE_KEYS_FILE', KEYS_FILE));
	if (more.length === 0 && verb === 'new' && file !== undefined) return create(file);
	throw new UsageError('urlmode keys list [FILE], or urlmode keys new FILE');
}

/** @param {string} file */
function list(file) {
	const keys = new KeysFile(file);
	const others = kidsOf(keys).filter((kid) => kid !== keys.minting.kid);
	process.stdout.write(`${printable(file)}:\n  key ${keys.minting.kid} seals and opens\n`);
	for (const kid of others) process.stdout.write(`  key ${kid} opens\n`);
	return 0;
}

/** @param {import('../core/keys.js').KeyRing} keys */
export function kidsOf(keys) {
	return Array.from({ length: 256 }, (_, kid) => kid).filter((kid) => keys.find(kid));
}

/** @param {string} file */
async function create(file) {
	await writeFile(file, `1 ${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600 });
	process.stdout.write(`${printable(file)} is written: copy it to the callback programs\n`);
	return 0;
}
