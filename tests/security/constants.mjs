// Limits have one home each, in the headers of lib/: tests read them there.

import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LIB = fileURLToPath(new URL('../../lib', import.meta.url));

/**
 * A number that a header of lib/ defines.
 *
 * @param {string} name such as UM_QUERY_MAX
 */
export function constant(name) {
	for (const file of readdirSync(LIB, { recursive: true }).filter((name) => /^[a-z]+\/\w+\.h$/.test(name))) {
		const text = readFileSync(`${LIB}/${file}`, 'utf8');
		const found = new RegExp(`^#define ${name}\\s+(\\d+)\\b`, 'm').exec(text);
		if (found) {
			return Number(found[1]);
		}
	}
	throw new Error(`no header of lib/ defines ${name}`);
}
