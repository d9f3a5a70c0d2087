// What an `oauth` part may say: lib/providers/schema.json, and which variable is in which address. All of its mistakes
// are found, so that its author sees them at once.

import { readFileSync } from 'node:fs';

import { Schema } from '../core/schema.js';
import { shippedFile } from '../core/shipped.js';

const SCHEMA = new Schema(JSON.parse(readFileSync(shippedFile('providers/schema.json'), 'utf8')));
const { properties: PROPERTIES = {} } = SCHEMA.get('oauth');

export const URL_TEMPLATE = new RegExp(SCHEMA.get('url').pattern);

/** Parameters of the authorization request that come from elsewhere. @type {Set<string>} */
export const TAKEN = new Set(PROPERTIES.parameters.propertyNames.not.enum);

/** The members in which a {name} may be. */
const ADDRESSED = /** @type {const} */ (['issuer', 'authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'refresh_endpoint', 'account',
	'signed_secret', 'long_lived']);

/** @typedef {import('./types.js').OAuthDescription} OAuthDescription */

/** @param {unknown} value */
export const isText = (value) => typeof value === 'string' && value !== '' && !value.includes('\0');

/**
 * Whether there is a variable for each {name}, and a {name} for each variable.
 *
 * @param {OAuthDescription} oauth
 * @param {(name: string) => boolean} isReadable whether this member is right by itself
 */
function usesItsVariables(oauth, isReadable) {
	const signed = oauth.signed_secret?.issuer;
	const templates = ADDRESSED.filter(isReadable).flatMap((name) => {
		if (name === 'account') return oauth.account?.endpoint;
		if (name === 'signed_secret') return signed;
		if (name === 'long_lived') return [oauth.long_lived?.exchange.endpoint, oauth.long_lived?.renewal?.endpoint];
		return oauth[name];
	});
	const used = new Set();
	for (const template of templates.filter((one) => one !== undefined)) {
		const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => String(name));
		if (/[{}]/.test(template.replaceAll(/\{[^{}]*\}/g, ''))) return false;
		for (const name of names) {
			const as = oauth.variables && Object.hasOwn(oauth.variables, name) ? oauth.variables[name]?.as : undefined;
			if (!as || (as === 'url') !== (template === `{${name}}` && template !== signed)) return false;
			used.add(name);
		}
	}
	// A variable may be that of an address which is wrong.
	return !ADDRESSED.every(isReadable) || Object.keys(oauth.variables ?? {}).every((name) => used.has(name));
}

/**
 * @param {unknown} oauth
 * @returns {import('../core/schema.js').Fault[]} all that is wrong
 */
export function findMistakes(oauth) {
	const all = SCHEMA.faultsOf('oauth', oauth);
	const faults = all.filter(({ pointer }, index) => all.findIndex((other) => other.pointer === pointer) === index);
	const wrong = new Set(faults.map(({ pointer }) => pointer.split('/')[1]));
	if (wrong.has(undefined) || wrong.has('variables') || usesItsVariables(/** @type {OAuthDescription} */ (oauth), (name) => !wrong.has(name))) {
		return faults;
	}
	return [...faults, { pointer: '/variables', must: 'must be those that the addresses name, each as it is used' }];
}
