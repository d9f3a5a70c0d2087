// oauth() as lynq documents it: urlAction with other defaults.

import { urlAction } from './url-action.js';

export const oauth = (options) => urlAction({
	name: 'oauth', sessionKey: 'user', message: 'Please sign in to continue.',
	declineMessage: 'Authentication cancelled.', ...options,
});
