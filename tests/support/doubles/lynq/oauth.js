// As lynq documents oauth(): urlAction with names of its own.

import { urlAction } from './url-action.js';

export const oauth = (options) => urlAction({
	name: 'oauth', sessionKey: 'user', message: 'Please sign in to continue.',
	declineMessage: 'Authentication cancelled.', ...options,
});
