// Asks a client that holds its calls as tasks: the call ends at once, and the task says how the client asks
// its user. See tasks.js.

import { sendToApprovers } from './ask-by-link.js';
import { elicitationRequest, INPUT_KEY, mintHandle } from './ask-by-retry.js';
import { canBeOpened, endPending } from './asking.js';
import { beginAsk } from './asks.js';

/**
 * @param {import('./asking.js').ElicitOptions} options
 * @param {import('./asking.js').Round & { task: import('./types.js').TaskRound }} round
 * @param {import('./asking.js').Begun} begun
 * @param {boolean} declares whether the client can send its user to a URL; otherwise the task has the link as text
 * @returns {Promise<import('./types.js').Ended>}
 */
export async function askByTask(options, { task, client }, { elicitation, found }, declares) {
	const { elicitationId, url = '', resumed } = elicitation;
	if (!resumed) await sendToApprovers(options, elicitation);
	const isAsked = declares && canBeOpened(elicitation, found) && await beginAsk(options, client, elicitationId, false) === '';
	const end = endPending(options, elicitation, found);
	const text = 'content' in end.toolResult ? end.toolResult.content.map((each) => each.text).join('\n') : '';
	task.awaited = { elicitationId, kind: options.kind, text };
	return { action: 'pending', reason: 'asked', toolResult: {
		resultType: 'input_required',
		...isAsked && { inputRequests: { [INPUT_KEY]: /** @type {never} */ (elicitationRequest(options.message, url)) } },
		requestState: await mintHandle(options, { elicitation: /** @type {never} */ (elicitation), rounds: 1 }),
	} };
}
