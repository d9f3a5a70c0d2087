// urlAction() as lynq documents it: a tool call waits for a page, and continues
// when the session has the key.

import { randomUUID } from 'node:crypto';

export function urlAction({
	name = 'url-action', sessionKey = 'user', message, buildUrl, timeout = 300_000,
	declineMessage = 'Action cancelled.', skipIf, onComplete,
}) {
	return {
		name,
		async onCall(c, next) {
			if (skipIf ? await skipIf(c) : c.session.get(sessionKey)) {
				return next();
			}
			const elicitationId = randomUUID();
			const url = await buildUrl({ sessionId: c.sessionId, elicitationId });
			const { action } = await c.elicit.url(message, url, { elicitationId, waitForCompletion: true, timeout });
			if (action !== 'accept') {
				return c.error(declineMessage);
			}
			if (!c.session.get(sessionKey)) {
				return c.error('Action was not completed.');
			}
			await onComplete?.(c);
			c.session.authorize(name);
			return next();
		},
	};
}
