// SPDX-License-Identifier: MIT
// Writes what each language needs of the contract, from the data in this folder: `make contract`.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import * as calls from './calls.mjs';
import * as codes from './codes.mjs';
import { files as functionFiles, functionsJson } from './functions.mjs';
import * as limits from './limits.mjs';
import * as messages from './messages.mjs';
import * as seals from './seals.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROTOCOL = 'lib/PROTOCOL.md';

/** @param {string} file relative to the repository */
export const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');
/** @param {string} name of a file of data in this folder */
export const data = (name) => JSON.parse(read(`lib/contract/${name}.json`));

/**
 * A document with its generated tables. Each is between two comments that name it.
 *
 * @param {string} text
 * @param {Record<string, string>} tables
 */
function withTables(text, tables) {
	for (const [name, table] of Object.entries(tables)) {
		const place = new RegExp(`(<!-- contract: ${name}[^>]*-->\n)[^]*?(?=<!-- end -->)`);
		if (!place.test(text)) throw new Error(`the document has no place for ${name}`);
		text = text.replace(place, (_, start) => start + table);
	}
	return text;
}

/** Every generated file and its text. */
export function generated() {
	const all = { codes: data('codes'), limits: data('limits'), messages: data('messages'), seals: data('seals') };
	return new Map(Object.entries({
		...calls.files(data('calls'), data('functions')),
		...codes.files(all.codes),
		...limits.files(all.limits),
		...messages.files(all.messages),
		...seals.files(all.seals),
		...functionFiles(data('functions')),
		[PROTOCOL]: withTables(read(PROTOCOL), { ...codes.tables(all.codes), ...seals.tables(all.seals) }),
	}));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const database = process.env.URLMODE_ADMIN_DATABASE_URL;
	if (database) writeFileSync(path.join(ROOT, 'lib/contract/functions.json'), functionsJson(database));
	for (const [file, text] of generated()) writeFileSync(path.join(ROOT, file), text);
}
