// Reads and checks the `oauth` part of a description in lib/providers, or of a file of
// the site's own. The callback programs take only its issuer, and check nothing else of it.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { shippedFile } from '../shipped.js';
import { findIn } from './pointer.js';

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const VARIABLE_NAME = /^[a-z][a-z0-9_]{0,31}$/;
const URL_TEMPLATE = /^(https:\/\/[\w.~:{}-]+|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(\/[\w.~:/@{}-]*)?$/;
const POINTER = /^(\/([^~/\0]|~[01])*){0,16}$/;
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

/** What the value of a variable can be. */
const VALUES = {
	label: new RegExp(`^${LABEL}$`),
	labels: new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`),
	url: new RegExp(`${URL_TEMPLATE.source.replaceAll('{}', '')}`),
};

/** Parameters of the authorization request that come from elsewhere. */
const TAKEN = new Set(['client_id', 'client_secret', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri',
	'response_mode', 'response_type', 'scope', 'state']);

/** The same of the token request. */
const TOKEN_TAKEN = new Set(['client_id', 'client_secret', 'code', 'code_verifier', 'grant_type', 'redirect_uri']);

/**
 * @typedef {import('./types.js').OAuthDescription} OAuthDescription
 * @typedef {(value: unknown) => string | undefined} Check returns where the mistake is, relative to the value
 */

/** @param {unknown} value */
const isText = (value) => typeof value === 'string' && value !== '' && !value.includes('\0');

/**
 * @param {(value: unknown) => boolean} test
 * @returns {Check}
 */
const check = (test) => (value) => (test(value) ? undefined : '');

const text = check(isText);
const flag = check((value) => typeof value === 'boolean');
const url = check((value) => isText(value) && String(value).length <= 512 && URL_TEMPLATE.test(String(value)));
const pointer = check((value) => typeof value === 'string' && value.length <= 256 && POINTER.test(value));
const object = check((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

/** @param {string[]} choices */
const oneOf = (...choices) => check((value) => choices.includes(/** @type {string} */ (value)));

/**
 * An object, not empty, each of whose members passes the check of its name.
 *
 * @param {(name: string) => Check | undefined} checkFor undefined: there must be no such member
 * @param {string[]} [required]
 * @returns {Check}
 */
const members = (checkFor, required = []) => (value) => {
	if (object(value) !== undefined || Object.keys(/** @type {object} */ (value)).length === 0) return '';
	for (const [name, member] of Object.entries(/** @type {object} */ (value))) {
		const wrong = (checkFor(name) ?? (() => ''))(member);
		if (wrong !== undefined) return `/${name}${wrong}`;
	}
	const missing = required.find((name) => !Object.hasOwn(/** @type {object} */ (value), name));
	return missing === undefined ? undefined : `/${missing}`;
};

/**
 * @param {Record<string, Check>} checks
 * @param {string[]} [required]
 */
const record = (checks, required) => members((name) => (Object.hasOwn(checks, name) ? checks[name] : undefined), required);

const OAUTH = record({
	documentation: text,
	notes: text,
	issuer: (value) => (/^\{\w+\}$/.test(String(value)) ? undefined : url(value)),
	authorization_response_iss_parameter_supported: flag,
	authorization_endpoint: url,
	token_endpoint: url,
	revocation_endpoint: url,
	pkce: oneOf('S256', 'none'),
	token_endpoint_auth_method: oneOf('client_secret_basic', 'client_secret_post', 'none'),
	scope: record({ parameter: text, separator: oneOf(' ', ',') }),
	parameters: members((name) => (TAKEN.has(name) ? undefined : text)),
	token_parameters: members((name) => (TOKEN_TAKEN.has(name) ? undefined : text)),
	response_mode: oneOf('query', 'form_post'),
	variables: members((name) => (VARIABLE_NAME.test(name)
		? record({ as: oneOf('label', 'labels', 'url'), default: text, notes: text }, ['as']) : undefined)),
	token_response: record({ member: pointer, token_type: oneOf('bearer') }),
	account: record({
		from: oneOf('token_response', 'id_token', 'userinfo'),
		endpoint: url,
		headers: members((name) => (/^[a-z0-9-]{1,60}$/.test(name) ? text : undefined)),
		body: object,
		id: pointer,
		name: pointer,
	}, ['id']),
}, ['pkce', 'token_endpoint_auth_method']);

/**
 * @param {OAuthDescription} oauth each of whose members is right by itself
 * @returns {string | undefined} where members do not fit together
 */
function findMisfit(oauth) {
	const { issuer, token_endpoint: token, account } = oauth;
	if ((oauth.authorization_endpoint === undefined) !== (token === undefined)) return '/token_endpoint';
	if (token === undefined && (issuer === undefined || oauth.revocation_endpoint !== undefined)) return '/token_endpoint';
	if (token === undefined && oauth.pkce === 'none') return '/pkce';
	if (issuer === undefined && oauth.authorization_response_iss_parameter_supported !== undefined) return '/issuer';
	if (account && (account.from === undefined) === (account.endpoint === undefined)) return '/account';
	if (account?.from && (account.headers || account.body)) return '/account/endpoint';
	if (token !== undefined && account?.from && account.from !== 'token_response') return '/account/from';
	const used = new Set();
	for (const template of addressesOf(oauth)) {
		const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => String(name));
		if (/[{}]/.test(template.replaceAll(/\{[^{}]*\}/g, ''))) return '/variables';
		for (const name of names) {
			const as = oauth.variables && Object.hasOwn(oauth.variables, name) ? oauth.variables[name]?.as : undefined;
			if (!as || (as === 'url') !== (template === `{${name}}`)) return '/variables';
			used.add(name);
		}
	}
	return Object.keys(oauth.variables ?? {}).every((name) => used.has(name)) ? undefined : '/variables';
}

/** @param {OAuthDescription} oauth */
function addressesOf({ issuer, authorization_endpoint, token_endpoint, revocation_endpoint, account }) {
	return [issuer, authorization_endpoint, token_endpoint, revocation_endpoint, account?.endpoint].filter((one) => one !== undefined);
}

/**
 * @param {unknown} oauth
 * @returns {string | undefined} a JSON pointer to what is wrong, undefined if nothing is
 */
export function findMistake(oauth) {
	return OAUTH(oauth) ?? findMisfit(/** @type {OAuthDescription} */ (oauth));
}

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
	const mistake = findMistake(oauth);
	if (mistake !== undefined) throw new TypeError(`${file}: /oauth${mistake} is missing, not known, or not what lib/providers/ACCOUNTS.md says`);
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
		if (!Object.hasOwn(variables, name)) throw new TypeError(`variables.${name} is not one of this description`);
	}
	/** @type {Map<string, string>} */
	const values = new Map();
	for (const [name, { as, default: usual }] of Object.entries(variables)) {
		const value = given[name] ?? usual;
		if (value === undefined) throw new TypeError(`variables.${name} is required`);
		if (typeof value !== 'string' || !VALUES[as].test(value) || (as === 'url' && !URL.canParse(value))) {
			throw new TypeError(`variables.${name} must be ${as === 'url' ? 'an https URL without query and fragment'
				: `letters, digits and hyphens${as === 'labels' ? ', with dots between them' : ''}`}`);
		}
		values.set(name, value);
	}
	/** @param {string | undefined} template */
	const fill = (template) => template?.replaceAll(/\{(\w+)\}/g, (_, name) => String(values.get(name)));
	return {
		...oauth,
		issuer: fill(oauth.issuer),
		authorization_endpoint: fill(oauth.authorization_endpoint),
		token_endpoint: fill(oauth.token_endpoint),
		revocation_endpoint: fill(oauth.revocation_endpoint),
		account: oauth.account && { ...oauth.account, endpoint: fill(oauth.account.endpoint) },
	};
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
