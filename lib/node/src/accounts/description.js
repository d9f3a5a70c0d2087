// Reads the `oauth` part of a description in lib/providers, or of a file of the site's
// own. The callback programs take only its issuer.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { ACCOUNT_HOST_MAX, PROVIDER_MAX } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { shippedFile } from '../core/shipped.js';
import { findMistakes, isText, TAKEN, URL_TEMPLATE } from './check-description.js';
import { findIn } from './pointer.js';

const NAME = new RegExp(`^[a-z0-9][a-z0-9_-]{0,${PROVIDER_MAX - 1}}$`);
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

/** What the value of a variable can be. */
const VALUES = {
	label: new RegExp(`^${LABEL}$`),
	labels: new RegExp(`^(?=.{1,${ACCOUNT_HOST_MAX}}$)${LABEL}(?:\\.${LABEL})*$`),
	url: new RegExp(`${URL_TEMPLATE.source.replaceAll('{}', '')}`),
};

/** @typedef {import('./types.js').OAuthDescription} OAuthDescription */

/**
 * @param {string} name of a description, or the path of a file, with a slash
 * @returns {Promise<OAuthDescription>}
 * @throws {TypeError} which names the file and the place
 */
export async function readDescription(name) {
	if (typeof name !== 'string' || !(NAME.test(name) || name.includes('/'))) {
		throw new TypeError('description must be the name of a description, or a path with a slash');
	}
	const file = name.includes('/') ? resolve(name) : shippedFile(`providers/${name}.json`);
	let content;
	try {
		content = JSON.parse(await readFile(file, 'utf8'));
	} catch (error) {
		const { code } = /** @type {NodeJS.ErrnoException} */ (error);
		throw new TypeError(code === 'ENOENT' ? `there is no description ${name}: ${file} does not exist` : `${file} cannot be read as JSON`);
	}
	const oauth = findIn(content, '/oauth');
	if (oauth === undefined) throw new TypeError(`${file} does not say how an account is connected: it has no oauth`);
	const mistakes = findMistakes(oauth).map(({ pointer, must }) => `/oauth${pointer} ${must}`);
	if (mistakes.length > 0) throw new TypeError(`${file}: ${mistakes.join('; ')}`);
	return /** @type {OAuthDescription} */ (oauth);
}

/**
 * The description with its variables filled in.
 *
 * @param {OAuthDescription} oauth
 * @param {Record<string, string>} given
 * @returns {OAuthDescription}
 */
export function fillIn(oauth, given) {
	const { variables = {} } = oauth;
	for (const name of Object.keys(given)) {
		if (!Object.hasOwn(variables, name)) throw new TypeError(`variables.${name} ${TEXTS.variableUnknown}`);
	}
	/** @type {Map<string, string>} */
	const values = new Map();
	for (const [name, { as, default: usual, among }] of Object.entries(variables)) {
		const value = given[name] ?? usual;
		if (value === undefined) throw new TypeError(`variables.${name} is required`);
		if (typeof value !== 'string' || !VALUES[as].test(value) || (as === 'url' && !URL.canParse(value))) {
			throw new TypeError(`variables.${name} must be ${as === 'url' ? TEXTS.httpsWithoutQuery
				: `letters, digits and hyphens${as === 'labels' ? ', with dots between them' : ''}`}`);
		}
		if (among && !among.includes(value)) throw new TypeError(`variables.${name} ${TEXTS.mustBeOneOf(among.join(', '))}`);
		values.set(name, value);
	}
	/** @param {string | undefined} template */
	const fill = (template) => template?.replaceAll(/\{(\w+)\}/g, (_, name) => String(values.get(name)));
	/** @param {import('./types.js').Lengthening} request */
	const fillRequest = (request) => ({ ...request, endpoint: String(fill(request.endpoint)) });
	const { long_lived: lengthening } = oauth;
	return {
		...oauth,
		long_lived: lengthening && { exchange: fillRequest(lengthening.exchange), ...lengthening.renewal && { renewal: fillRequest(lengthening.renewal) } },
		issuer: fill(oauth.issuer),
		authorization_endpoint: fill(oauth.authorization_endpoint),
		token_endpoint: fill(oauth.token_endpoint),
		revocation_endpoint: fill(oauth.revocation_endpoint),
		refresh_endpoint: fill(oauth.refresh_endpoint),
		account: oauth.account && { ...oauth.account, endpoint: fill(oauth.account.endpoint) },
		signed_secret: oauth.signed_secret && { ...oauth.signed_secret, issuer: String(fill(oauth.signed_secret.issuer)) },
	};
}

/**
 * The variables that come back with the user: the host of the token endpoint, where a provider has several. The
 * browser says them, so that only those which the description names are taken.
 *
 * @param {OAuthDescription} oauth
 * @param {Record<string, string>} returned the parameters of the return
 * @returns {{ variables: Record<string, string>, wrong?: string }} wrong: the parameter whose value is not one of them
 */
export function fromReturn({ variables = {} }, returned) {
	/** @type {Record<string, string>} */
	const found = {};
	for (const [name, { return_parameter: parameter, among }] of Object.entries(variables)) {
		const value = parameter === undefined ? undefined : returned[parameter];
		if (value === undefined) continue;
		const host = value.replace(/^https:\/\//, '').replace(/\/$/, '');
		if (!among?.includes(host)) return { variables: {}, wrong: String(parameter) };
		found[name] = host;
	}
	return { variables: found };
}

/**
 * @param {Record<string, string>} parameters
 * @throws {TypeError}
 */
export function checkParameters(parameters) {
	for (const [name, value] of Object.entries(parameters)) {
		if (TAKEN.has(name) || !isText(value)) throw new TypeError(`parameters.${name} is not a text, or comes from elsewhere`);
	}
}
