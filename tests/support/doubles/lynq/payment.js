// As lynq documents payment(): urlAction with names of its own.

import { urlAction } from './url-action.js';

export const payment = (options) => urlAction({
	name: 'payment', sessionKey: 'payment', message: 'Please complete payment to continue.',
	declineMessage: 'Payment cancelled.', ...options,
});
