// A double of lynq's payment(): urlAction with other defaults. Compared with lynq 0.13.0.

import { urlAction } from './url-action.js';

export const payment = (options) => urlAction({
	name: 'payment', sessionKey: 'payment', message: 'Please complete payment to continue.',
	declineMessage: 'Payment cancelled.', ...options,
});
