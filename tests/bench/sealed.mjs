// What the callback programs seal when the user comes back with a code: the
// result, which stands in the row, and the outcome, which is announced.

import { encrypt } from '../../lib/node/src/aead.js';
import { RESULT, seal } from '../../lib/node/src/seal.js';
import { idBytes } from '../../lib/node/src/token.js';

/**
 * @param {object} keys
 * @param {{ id: string, binding: Buffer }} row
 * @param {{ code: string, iss: string }} result
 */
export function sealReturn(keys, { id, binding }, result) {
	const { kid, outcomeKey } = keys.minting;
	return {
		result: seal(keys, { id, binding, use: RESULT }, JSON.stringify(result)),
		outcome: encrypt({
			kid, key: outcomeKey, context: Buffer.concat([idBytes(id), binding]),
			plaintext: JSON.stringify({ action: 'accept', reason: '', result }),
		}),
	};
}
