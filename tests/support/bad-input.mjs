// Invalid states and forms, as cases of a table: [name, status, reason, () => text].

import { withByte, withTrailingBits } from './tokens.mjs';

/**
 * State tokens that violate the contract.
 *
 * @param {() => import('./tokens.mjs').Tokens} tokens
 * @param {{ purpose: string, otherPurpose: string, elicitation: () => object,
 *     good: () => string, boundTo?: () => string }} place
 *     good: a genuine token; boundTo: the cookie of its browser
 */
export function badTokens(tokens, { purpose, otherPurpose, elicitation, good, boundTo }) {
	const mint = (change) => tokens().mint(elicitation(), { purpose, cookie: boundTo?.(), ...change });
	const now = () => Math.floor(Date.now() / 1000);
	const INVALID = [400, 'state_invalid'];

	return [
		['one character short', ...INVALID, () => good().slice(0, -1)],
		['one character long', ...INVALID, () => `${good()}A`],
		['padded', ...INVALID, () => `${good()}=`],
		['with a space at its end', ...INVALID, () => `${good()} `],
		['of the other base64 alphabet', ...INVALID, () => `${good().slice(0, 50)}+${good().slice(51)}`],
		['with a character of no alphabet', ...INVALID, () => `${good().slice(0, 50)}.${good().slice(51)}`],
		['with a last character whose unused bits are set', ...INVALID, () => withTrailingBits(good())],
		['of another version', ...INVALID, () => withByte(good(), 0, () => 2)],
		['of an unknown key', ...INVALID, () => mint({ keys: tokens().otherKid })],
		['of a key with the same number and another secret', ...INVALID, () => mint({ keys: tokens().otherSecret })],
		['with a changed key number', ...INVALID, () => withByte(good(), 1, (kid) => kid ^ 1)],
		['with a changed nonce', ...INVALID, () => withByte(good(), 2, (byte) => byte ^ 1)],
		['with a changed ciphertext', ...INVALID, () => withByte(good(), 14, (byte) => byte ^ 0x80)],
		['with a changed tag', ...INVALID, () => withByte(good(), 85, (byte) => byte ^ 1)],
		['of nothing but A', ...INVALID, () => 'A'.repeat(115)],
		[`for the purpose ${otherPurpose}`, ...INVALID, () => mint({ purpose: otherPurpose })],
		['for the purpose cancel', ...INVALID, () => mint({ purpose: 'cancel' })],
		['for another provider', ...INVALID, () => mint({ provider: 'github' })],
		['expired a second ago', 410, 'state_expired', () => mint({ expires: now() - 1 })],
		['expired in 1970', 410, 'state_expired', () => mint({ expires: 0 })],
	];
}

/** Invalid queries and forms; `good` is a valid one. */
export function badForms(good) {
	const MALFORMED = [400, 'malformed_parameters'];
	const LARGE = [400, 'parameters_too_large'];
	const DUPLICATE = [400, 'duplicate_parameter'];

	return [
		['without a state', 400, 'state_missing', () => good().replace(/(^|&)state=[^&]*/, '')],
		['with an empty state', 400, 'state_missing', () => good().replace(/state=[^&]*/, 'state=')],
		['with the state twice', ...DUPLICATE, () => `${good()}&${good().match(/state=[^&]*/)[0]}`],
		['with the state twice, once spelled otherwise', ...DUPLICATE, () => `${good()}&st%61te=x`],
		['with any parameter twice', ...DUPLICATE, () => `${good()}&x=1&x=2`],
		['with a % that begins nothing', ...MALFORMED, () => `${good()}&x=%zz`],
		['with a % at its end', ...MALFORMED, () => `${good()}&x=%4`],
		['with a NUL', ...MALFORMED, () => `${good()}&x=%00`],
		['with bytes that are not UTF-8', ...MALFORMED, () => `${good()}&x=%c3%28`],
		['with 33 parameters', ...LARGE, () => `${good()}${Array.from({ length: 33 }, (_, i) => `&p${i}=1`).join('')}`],
		['with a name over 64 bytes', ...LARGE, () => `${good()}&${'n'.repeat(65)}=1`],
		['with a value over 4096 bytes', ...LARGE, () => `${good()}&x=${'v'.repeat(4097)}`],
	];
}
