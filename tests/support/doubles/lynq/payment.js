// payment() as lynq documents it: urlAction with other defaults.

import { urlAction } from './url-action.js';

export const payment = (options) => urlAction({
	name: 'payment', sessionKey: 'payment', message: 'Please complete payment to continue.',
	declineMessage: 'Payment cancelled.', ...options,
});
