// Checks the URLs that the MCP server passes: baseUrl and targetUrl.

import { TARGET_URL_MAX } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** A query with a parameter of which the name is state, or is encoded. */
const MAY_NAME_STATE = /[?&](?:state(?![^=&])|[^=&?]*%)/;

/** @param {URL} url */
export function isLoopback({ protocol, hostname }) {
	return protocol === 'http:' && LOOPBACK.has(hostname);
}

/**
 * @param {string} name of the option, for the error message
 * @param {unknown} value
 * @returns {URL}
 */
function parseWebUrl(name, value) {
	if (typeof value !== 'string' && !(value instanceof URL)) {
		throw new TypeError(`${name} must be a URL or a string`);
	}
	const text = String(value);
	if (!URL.canParse(text)) throw new TypeError(`${name} ${TEXTS.mustBeAbsolute}`);
	const url = new URL(text);
	if (url.protocol !== 'https:' && !isLoopback(url)) {
		throw new TypeError(`${name} ${TEXTS.mustBeHttps}`);
	}
	if (url.username !== '' || url.password !== '') {
		throw new TypeError(`${name} ${TEXTS.hasUserName}`);
	}
	return url;
}

/**
 * @param {unknown} value
 * @returns {URL} only scheme, host and port
 */
export function checkBaseUrl(value) {
	const url = parseWebUrl('baseUrl', value);
	if (url.href !== `${url.origin}/`) {
		throw new TypeError(TEXTS.baseUrlParts);
	}
	return url;
}

/**
 * @param {unknown} value
 * @param {import('./types.js').Kind} kind
 * @returns {URL}
 */
export function checkTargetUrl(value, kind) {
	const url = parseWebUrl('targetUrl', value);
	if (url.href.includes('#')) throw new TypeError(TEXTS.targetUrlFragment);
	// Hardly a name is encoded, so that the query is seldom taken apart.
	if (kind === 'oauth' && MAY_NAME_STATE.test(url.search) && url.searchParams.has('state')) {
		throw new TypeError(TEXTS.targetUrlState);
	}
	checkLength(url.href);
	return url;
}

/**
 * Adds to the query without changing the encoding of what it contains.
 *
 * @param {URL} url
 * @param {Record<string, string>} parameters
 * @returns {URL}
 */
export function addParameters(url, parameters) {
	const added = new URL(url);
	const query = new URLSearchParams(parameters).toString();
	added.search = url.search === '' ? query : `${url.search}&${query}`;
	checkLength(added.href);
	return added;
}

/** @param {string} href ASCII, as URL serializes it */
function checkLength(href) {
	if (href.length > TARGET_URL_MAX) throw new TypeError(TEXTS.targetUrlTooLong);
}
