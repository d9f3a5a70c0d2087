// SPDX-License-Identifier: MIT
// Writes what each language needs of the contract, from the data in this folder: `make contract`.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import * as calls from './calls.mjs';
import * as codes from './codes.mjs';
import { functionsJson } from './functions.mjs';
import * as hosts from './hosts.mjs';
import * as kinds from './kinds.mjs';
import * as limits from './limits.mjs';
import * as messages from './messages.mjs';
import * as parity from './parity.mjs';
import * as providersGo from './providers-go.mjs';
import * as seals from './seals.mjs';
import * as statements from './statements.mjs';
import * as texts from './texts.mjs';
import * as words from './words.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROTOCOL = 'lib/PROTOCOL.md';
const ADAPTERS = 'lib/node/ADAPTERS.md';
const PARITY = 'lib/PARITY.md';

/** @param {string} file relative to the repository */
export const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');
/** @param {string} name of a file of data in this folder */
export const data = (name) => JSON.parse(read(`lib/contract/${name}.json`));

/** Words, or those at a place of another file: `file#/pointer`. @param {string[] | string} words */
function at(words) {
	if (typeof words !== 'string') return words;
	const [file, pointer] = words.split('#/');
	return pointer.split('/').reduce((value, name) => value[name], JSON.parse(read(file)));
}

/** The descriptions that are shipped, by name. @returns {[string, Record<string, any>][]} */
export const descriptions = () => readdirSync(path.join(ROOT, 'lib/providers')).filter((file) => file.endsWith('.json') && file !== 'schema.json').sort()
	.map((file) => [file.slice(0, -'.json'.length), JSON.parse(read(`lib/providers/${file}`))]);

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

/** @param {string} place a file, or a folder: all files in it */
function textsIn(place) {
	const files = statSync(path.join(ROOT, place)).isFile() ? [place] : readdirSync(path.join(ROOT, place), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile()).map((entry) => path.relative(ROOT, path.join(entry.parentPath ?? entry.path, entry.name)));
	return new Map(files.map((file) => [file, read(file)]));
}

const isTable = (file) => /^sql\/(?:\w+\/)?tables\//.test(file);
const withLimits = () => [...limits.alsoIn(data('limits'), textsIn)];

/** The files of tables that have limits, with their values. They are applied once, and never changed: what they have is only compared. */
export const tables = () => new Map(withLimits().filter(([file]) => isTable(file)));

/** Every generated file and its text, and those that have limits among what is written by hand. */
export function generated() {
	const all = { codes: data('codes'), limits: data('limits'), messages: data('messages'), seals: data('seals') };
	const inPlaces = Object.fromEntries(withLimits().filter(([file]) => !isTable(file)));
	return new Map(Object.entries({
		...calls.files(data('calls'), data('functions')),
		...codes.files(all.codes),
		...limits.files(all.limits),
		...messages.files(all.messages),
		...seals.files(all.seals),
		...statements.files(data('statements')),
		...texts.files(data('texts'), all.limits),
		...kinds.files(descriptions(), JSON.parse(read('lib/currencies.json'))),
		...words.files({ words: data('words').words.map((each) => ({ ...each, words: at(each.words) })) }),
		...providersGo.files(descriptions(), read),
		...hosts.files(data('hosts')),
		...inPlaces,
		...texts.inShell(data('texts'), all.limits, (file) => inPlaces[file] ?? read(file)),
		[PARITY]: withTables(read(PARITY), parity.tables(data('parity'))),
		[ADAPTERS]: withTables(read(ADAPTERS), hosts.tables(data('hosts'))),
		[PROTOCOL]: withTables(read(PROTOCOL), { ...codes.tables(all.codes), ...seals.tables(all.seals) }),
	}));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const database = process.env.URLMODE_ADMIN_DATABASE_URL;
	if (database) writeFileSync(path.join(ROOT, 'lib/contract/functions.json'), functionsJson(database));
	// Headers that say the same keep their time, so that make builds nothing again.
	for (const [file, text] of generated()) if (!existsSync(path.join(ROOT, file)) || read(file) !== text) writeFileSync(path.join(ROOT, file), text);
}
