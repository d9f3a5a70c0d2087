// What both Node programs do with a request before the database: the state
// opened and checked against the route, the expiry and the browser's cookie,
// with the code of the package `urlmode`.

import { readFileSync } from 'node:fs';

import { parseKeys } from '../../../lib/node/src/core/keys.js';
import { browserOf, openState } from '../../../lib/node/src/core/token.js';

const COOKIE = '__Host-urlmode=';

const file = process.env.URLMODE_KEYS_FILE;
const keys = parseKeys(readFileSync(file, 'latin1'), file);

/**
 * @param {string} provider
 * @param {URLSearchParams} query
 * @param {string | undefined} cookies the header
 * @returns {{ id: string, result: string } | undefined} undefined: refused
 */
export function check(provider, query, cookies = '') {
	const code = query.get('code');
	const start = cookies.indexOf(COOKIE);
	if (!code || start < 0) return undefined;
	const cookie = cookies.slice(start + COOKIE.length).split(';', 1)[0];
	try {
		const { id, browser } = openState(keys, 'return', provider, query.get('state') ?? '');
		if (!browserOf(cookie).equals(browser)) return undefined;
		return { id, result: JSON.stringify({ code, iss: query.get('iss') }) };
	} catch {
		return undefined;
	}
}
