// What an `oauth` part may say. All of its mistakes are found, so that its author
// sees them at once.

const VARIABLE_NAME = /^[a-z][a-z0-9_]{0,31}$/;
export const URL_TEMPLATE = /^(https:\/\/[\w.~:{}-]+|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(\/[\w.~:/@{}-]*)?$/;
/** An address that may have a query, without a variable in it. */
const URL_WITH_QUERY = new RegExp(URL_TEMPLATE.source.replace(/\$$/, '(\\?[\\w.~%=&-]+)?$'));
const POINTER = /^(\/([^~/\0]|~[01])*){0,16}$/;

/** Parameters of the authorization request that come from elsewhere. */
export const TAKEN = new Set(['client_id', 'client_secret', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri',
	'response_mode', 'response_type', 'scope', 'state']);

/** The same of the token request. */
const TOKEN_TAKEN = new Set(['client_id', 'client_secret', 'code', 'code_verifier', 'grant_type', 'redirect_uri']);

/** Parameters for which a provider can have names of its own. */
const RENAMED = new Set(['client_id', 'client_secret', 'code', 'redirect_uri', 'refresh_token', 'grant_type']);

/**
 * @typedef {import('./types.js').OAuthDescription} OAuthDescription
 * @typedef {(value: unknown) => string[]} Check returns where the mistakes are, relative to the value
 */

/** @param {unknown} value */
export const isText = (value) => typeof value === 'string' && value !== '' && !value.includes('\0');

/**
 * @param {(value: unknown) => boolean} test
 * @returns {Check}
 */
const check = (test) => (value) => (test(value) ? [] : ['']);

const text = check(isText);
const texts = check((value) => Array.isArray(value) && value.length > 0 && value.length <= 32 && value.every(isText));
const flag = check((value) => typeof value === 'boolean');
const isUrl = (/** @type {unknown} */ value, form = URL_TEMPLATE) => isText(value) && String(value).length <= 512 && form.test(String(value));
const url = check((value) => isUrl(value));
const pointer = check((value) => typeof value === 'string' && value.length <= 256 && POINTER.test(value));
const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value);

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
	if (!isObject(value) || Object.keys(/** @type {object} */ (value)).length === 0) return [''];
	const wrong = Object.entries(/** @type {object} */ (value)).flatMap(([name, member]) => (
		(checkFor(name) ?? (() => ['']))(member).map((where) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}${where}`)));
	const missing = required.filter((name) => !Object.hasOwn(/** @type {object} */ (value), name));
	return [...wrong, ...missing.map((name) => `/${name}`)];
};

/**
 * @param {Record<string, Check>} checks
 * @param {string[]} [required]
 */
const record = (checks, required) => members((name) => (Object.hasOwn(checks, name) ? checks[name] : undefined), required);

const VARIABLE = record({
	as: oneOf('label', 'labels', 'url'), default: text, notes: text, among: texts, return_parameter: text,
}, ['as']);

const LENGTHENING = record({ method: oneOf('GET', 'POST'), endpoint: url, parameters: members(() => text) }, ['endpoint', 'parameters']);

const OAUTH = record({
	documentation: text,
	notes: text,
	issuer: check((value) => /^\{\w+\}$/.test(String(value)) || isUrl(value)),
	authorization_response_iss_parameter_supported: flag,
	authorization_endpoint: url,
	token_endpoint: url,
	revocation_endpoint: url,
	refresh_endpoint: url,
	refresh_token_stays_good: flag,
	pkce: oneOf('S256', 'none'),
	token_endpoint_auth_method: oneOf('client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'),
	signed_secret: record({ issuer: text, audience: url }, ['issuer', 'audience']),
	parameter_names: members((name) => (RENAMED.has(name) ? text : undefined)),
	token_request: oneOf('form', 'json'),
	scope: record({ parameter: text, separator: oneOf(' ', ',') }),
	parameters: members((name) => (TAKEN.has(name) ? undefined : text)),
	token_parameters: members((name) => (TOKEN_TAKEN.has(name) ? undefined : text)),
	response_mode: oneOf('query', 'form_post'),
	variables: members((name) => (VARIABLE_NAME.test(name) ? VARIABLE : undefined)),
	token_response: record({ member: pointer, token_type: oneOf('bearer'), invalid_grant: texts }),
	long_lived: record({ exchange: LENGTHENING, renewal: LENGTHENING }, ['exchange']),
	account: record({
		from: oneOf('token_response', 'id_token', 'userinfo', 'return'),
		endpoint: check((value) => isUrl(value, URL_WITH_QUERY)),
		headers: members((name) => (/^[a-z0-9-]{1,60}$/.test(name) ? text : undefined)),
		body: check(isObject),
		id: pointer,
		name: pointer,
	}, ['id']),
	lifetimes: record({ access: text, refresh: text, rotation: text, source: text }),
}, ['pkce', 'token_endpoint_auth_method']);

/** The members in which a {name} may be. */
const ADDRESSED = /** @type {const} */ (['issuer', 'authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'refresh_endpoint', 'account',
	'signed_secret', 'long_lived']);

/**
 * Where members do not fit together. What is wrong by itself is not named again for that.
 *
 * @param {OAuthDescription} oauth an object; each of its members may be wrong
 * @param {Set<string>} wrong the names of those that are
 * @returns {string[]}
 */
function findMisfits(oauth, wrong) {
	const { issuer, token_endpoint: token, account, token_endpoint_auth_method: method, variables = {} } = oauth;
	const isDiscovered = token === undefined;
	const isReadable = (/** @type {string} */ name) => !wrong.has(name);
	const misfits = [
		[(oauth.authorization_endpoint === undefined) !== isDiscovered || (isDiscovered && (issuer === undefined || oauth.revocation_endpoint !== undefined || oauth.refresh_endpoint !== undefined)),
			'/token_endpoint'],
		[isDiscovered && oauth.pkce === 'none', '/pkce'],
		[issuer === undefined && oauth.authorization_response_iss_parameter_supported !== undefined, '/issuer'],
		[oauth.signed_secret !== undefined && isReadable('token_endpoint_auth_method') && method !== 'client_secret_post', '/signed_secret'],
		...account && isReadable('account') ? [
			[(account.from === undefined) === (account.endpoint === undefined), '/account'],
			[account.from && (account.headers || account.body), '/account/endpoint'],
			[!isDiscovered && account.from && !['token_response', 'return'].includes(account.from), '/account/from'],
		] : [],
		...isReadable('variables') ? Object.entries(variables).map(([name, { as, among, return_parameter: from }]) => (
			[from !== undefined && (among === undefined || as === 'url'), `/variables/${name}/return_parameter`])) : [],
		[isReadable('variables') && !usesItsVariables(oauth, isReadable), '/variables'],
	];
	return misfits.filter(([isWrong]) => isWrong).map(([, where]) => String(where));
}

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
 * @returns {string[]} JSON pointers to all that is wrong
 */
export function findMistakes(oauth) {
	const wrong = OAUTH(oauth);
	if (!isObject(oauth)) return wrong;
	const names = new Set(wrong.map((where) => String(where.split('/')[1])));
	return [...new Set([...wrong, ...findMisfits(/** @type {OAuthDescription} */ (oauth), names)])];
}
