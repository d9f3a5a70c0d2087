// Reads constants where they are written, so that no test repeats their values.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** @param {string} file relative to the repository */
const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');

/** @type {(folder: string, name: RegExp) => string[]} */
const list = (folder, name) => readdirSync(path.join(ROOT, folder), { recursive: true })
	.map(String).filter((file) => name.test(file)).sort().map((file) => path.join(folder, file));

const HEADERS = list('lib', /^[a-z]+\/\w+\.h$/).map(read).join('\n');
const SQL = list('sql', /\.sql$/).map(read).join('\n');

/** @type {(folder: string, name: RegExp, pattern: RegExp) => string[]} the first group of each match */
export const inFiles = (folder, name, pattern) => list(folder, name).flatMap((file) => [...read(file).matchAll(pattern)].map(([, value]) => value));

/**
 * The first group of a pattern, as a number where it has digits alone.
 *
 * @param {string} file relative to the repository
 * @param {RegExp} pattern
 */
export function found(file, pattern) {
	const text = pattern.exec(read(file))?.[1] ?? assert.fail(`${file} has no ${pattern}`);
	return /^[\d_]+$/.test(text) ? Number(text.replaceAll('_', '')) : text;
}

/**
 * The value of a product such as `30 * DAY_MS`.
 *
 * @param {string} product
 * @param {(name: string) => number} named the value of another constant
 */
export const multiply = (product, named) => product.replaceAll(/[()]/g, '').split('*').map((factor) => factor.trim())
	.reduce((value, factor) => value * (/^\d/.test(factor) ? Number(factor.replaceAll('_', '')) : named(factor)), 1);

/**
 * A number that a header of lib/ defines.
 *
 * @param {string} name such as UM_QUERY_MAX
 * @returns {number}
 */
export function constant(name) {
	const [, value] = new RegExp(`^#define ${name}\\s+([^\\n]*?)\\s*(?:/\\*.*)?$`, 'm').exec(HEADERS)
		?? assert.fail(`no header of lib/ defines ${name}`);
	return multiply(value, constant);
}

/**
 * A number that a file of C or JavaScript has as a constant.
 *
 * @param {string} file relative to the repository
 * @param {string} name
 * @returns {number}
 */
export function constantOf(file, name) {
	const [, value] = new RegExp(`(?:#define |const )${name}(?: =)? ([^;\\n]*?)(?:;|\\s*/\\*|\\s*(?://.*)?$)`, 'm').exec(read(file))
		?? assert.fail(`${file} has no ${name}`);
	return multiply(value, (other) => constantOf(file, other));
}

/** Each domain of the database: its condition, and its comment. */
export const domains = new Map([...SQL.matchAll(/^CREATE DOMAIN urlmode(?:_frameworks)?\.(\w+) AS ([^;]*);/gm)].map(([, name, type]) => [name, {
	condition: type,
	comment: new RegExp(`^COMMENT ON DOMAIN urlmode(?:_frameworks)?\\.${name} IS\\s+((?:'.*'\\s*)+);$`, 'm').exec(SQL)?.[1].replaceAll(/'\s+'/g, '') ?? '',
}]));

/**
 * How many bytes a value of a domain has at most.
 *
 * @param {string} name
 */
export function domainMax(name) {
	const { condition } = domains.get(name) ?? assert.fail(`there is no domain ${name}`);
	return Number((/octet_length\(VALUE(?:::text)?\) (?:<=|=|BETWEEN \d+ AND) (\d+)/.exec(condition) ?? assert.fail(condition))[1]);
}

/**
 * The values of a domain that is a list of words.
 *
 * @param {string} name
 */
export const domainWords = (name) => (domains.get(name)?.condition ?? assert.fail(name)).match(/'\w+'/g).map((word) => word.slice(1, -1));

/**
 * All that a pattern finds in the package for Node.
 *
 * @param {RegExp} pattern with the flag g
 */
export const inPackage = (pattern) => list('lib/node/src', /\.js$/).flatMap((file) => [...read(file).matchAll(pattern)]);
