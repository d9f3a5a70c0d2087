// A double of lynq's oauth(): urlAction with other defaults. Compared with lynq 0.13.0.

import { urlAction } from './url-action.js';

export const oauth = (options) => urlAction({
	name: 'oauth', sessionKey: 'user', message: 'Please sign in to continue.',
	declineMessage: 'Authentication cancelled.', ...options,
});
