// A double of lynq's urlAction(): a tool call waits for a page, and continues
// when the session, or the store of the user, has the key. Compared with lynq
// 0.13.0.

import { randomUUID } from 'node:crypto';

import { error } from './helpers.js';

export function urlAction({
	name = 'url-action', sessionKey = 'user', message, buildUrl, timeout = 300_000,
	declineMessage = 'Action cancelled.', persistent = false, skipIf, onComplete,
}) {
	const read = async (c) => (persistent ? c.userStore.get(sessionKey) : c.session.get(sessionKey));
	return {
		name,
		/** Hides its tools. */
		onRegister: () => false,
		async onCall(c, next) {
			if (skipIf ? await skipIf(c) : await read(c)) return next();
			const elicitationId = randomUUID();
			const url = await buildUrl({ sessionId: c.sessionId, elicitationId });
			const { action } = await c.elicit.url(message, url, { elicitationId, waitForCompletion: true, timeout });
			if (action !== 'accept') return error(declineMessage);
			if (!await read(c)) return error('Action was not completed.');
			await onComplete?.(c);
			c.session.authorize(name);
			return next();
		},
	};
}
