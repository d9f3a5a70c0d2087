// A request to a token endpoint, as its provider wants it.

import { isUnsent, noteSending } from './request.js';

/**
 * A code and a refresh token that rotates are used up by the first request that arrives: another attempt is only made
 * where the first could not connect.
 *
 * @param {string} url
 * @param {RequestInit} options
 */
export async function fetchOnce(url, options) {
	const send = () => noteSending(() => fetch(url, options));
	try {
		return await send();
	} catch (error) {
		if (!isUnsent(error)) throw error;
		return send();
	}
}

/**
 * The request with the provider's names of parameters, as a form or as JSON.
 *
 * @param {RequestInit} options
 * @param {import('./types.js').OAuthDescription} oauth
 * @returns {RequestInit}
 */
export function toTokenRequest(options, { parameter_names: names = {}, token_request: form }) {
	if (!(options.body instanceof URLSearchParams)) return options;
	const fields = [...options.body].map(([name, value]) => /** @type {[string, string]} */ ([names[name] ?? name, value]));
	if (form !== 'json') return { ...options, body: new URLSearchParams(fields) };
	const headers = new Headers(options.headers);
	headers.set('content-type', 'application/json');
	return { ...options, headers, body: JSON.stringify(Object.fromEntries(fields)) };
}
