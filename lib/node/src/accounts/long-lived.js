// Exchanges a token for one that lives longer, and renews that one: a request of the provider's own.

import { ACCOUNT_REQUEST_MS } from '../core/contract-limits.js';
import { readWhole } from './bounded-answer.js';
import { limitedTo } from './request.js';
import { fetchOnce } from './token-request.js';
import { toTokenResponse } from './token-response.js';


/**
 * With GET, the token and the secret are in the address of the request, because the provider wants it so. No error
 * contains this address.
 *
 * @param {import('./types.js').Lengthening} request with its variables filled in
 * @param {{ access_token: string, client: import('./types.js').Client, rules: import('./token-response.js').Rules | undefined }} what
 * @returns {Promise<import('./types.js').Tokens>}
 * @throws {Error} whose code is `no_long_lived_token` if there is none in the answer, with the provider's `error`, and errors of fetch
 */
export async function lengthen({ method = 'POST', endpoint, parameters }, { access_token: token, client, rules }) {
	const values = new Map([['{access_token}', token], ['{client_id}', client.id], ['{client_secret}', client.secret ?? '']]);
	const form = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters)) {
		form.set(name, value.replaceAll(/\{(access_token|client_id|client_secret)\}/g, (key) => String(values.get(key))));
	}
	const answer = await fetchOnce(method === 'GET' ? `${endpoint}?${form}` : endpoint, {
		method, headers: { accept: 'application/json', 'user-agent': 'urlmode' }, redirect: 'error', signal: limitedTo(ACCOUNT_REQUEST_MS),
		...method === 'POST' && { body: form },
	});
	const response = await toTokenResponse(await readWhole(answer), { ...rules, token_type: 'bearer' });
	const tokens = /** @type {import('./types.js').Tokens & { error?: unknown }} */ (await response.json());
	if (!response.ok || typeof tokens.access_token !== 'string' || tokens.access_token === '') {
		const refusal = response.status < 500 && typeof tokens.error === 'string' ? { error: tokens.error } : {};
		throw Object.assign(new Error('the provider gave no long-lived token'), { code: 'no_long_lived_token', ...refusal });
	}
	return tokens;
}
