// The values that the callback programs seal when the user returns with a code: the result for
// the row, and the outcome for the notification.

import { OUTCOME_INFO, RESULT_INFO } from '../../lib/node/src/core/contract-seals.js';
import { seal } from '../../lib/node/src/core/seal.js';

/**
 * @param {object} keys
 * @param {{ id: string, binding: Buffer }} row
 * @param {{ code: string, iss: string }} result
 */
export function sealReturn(keys, { id, binding }, result) {
	return {
		result: seal(keys, { id, binding, use: RESULT_INFO }, JSON.stringify(result)),
		outcome: seal(keys, { id, binding, use: OUTCOME_INFO }, JSON.stringify({ action: 'accept', reason: '', result })),
	};
}
