// Generated from lib/contract by `make contract`: change it there.

export const REASONS = {
	refused: 'the user refused',
	access_denied: 'the user refused',
	cancelled: 'the user cancelled',
	expired: 'nobody completed it in time',
	superseded: 'a newer request replaced it',
	claimed: 'another call has already used the outcome',
	refunded: 'the payment was refunded',
	held: 'it was paid, but another amount than was asked for, or a part of it may have gone back. The user need not pay again: the operator of this service decides about it, and then this tool can be called again with the same arguments',
	refused_input: 'what the user typed was not accepted five times',
	not_checked: 'what the user typed could not be verified ten times',
	payment_failed: 'the payment failed',
	past_due: 'the last payment of the subscription has failed or is missing',
	paused: 'the subscription is paused',
	amount_mismatch: 'the amount paid differs from the price',
	provider_error: 'the provider reported an error',
	issuer_missing: 'the response did not say which provider it is from',
	issuer_mismatch: 'the response is from another provider',
	exchange_refused: 'the provider did not grant access',
	exchange_failed: 'the provider could not be asked for access',
	scope_missing: 'not everything was granted that is needed',
	other_account: 'another account was connected than the one that is needed. It is kept as well. The user can connect the right one: call this tool again with the same arguments',
};

export const PROGRESS = {
	pending: 'Waiting for the user to open the page.',
	opened: 'The page is open in the browser.',
	attempt_failed: 'An attempt to pay has failed. The user can try again.',
	processing: 'The provider is working on it.',
};

export const INPUT_PROGRESS = {
	attempt_failed: 'What the user typed was not accepted. The user can try again.',
	processing: 'What the user typed is being verified.',
};

export const TASKS = {
	oauth: 'connect the account',
	payment: 'pay',
	signature: 'sign',
	input: 'fill in the form',
	approval: 'decide',
};

export const NOT_OPENED = {
	client_declined: 'it declined',
	client_dismissed: 'it dismissed the request',
	client_failed: 'it failed, or has not answered yet',
};

export const OPEN = {
	pending: 'The link is no longer valid, and nobody has opened it.',
	opened: 'It is not finished yet: the user has opened the page and can still finish there.',
	processing: 'The provider is still working on it.',
	claimed: 'Another call of this tool is working on it.',
};

export const TEXTS = {
	/** @param {string} name */
	otherApprover: (name) => `somebody else who can sign in at ${name}`,
	refused: 'the user refused',
	cancelled: 'it was cancelled',
	nobodyYet: 'Nobody',
	openedByNobody: 'It was opened, and nobody',
	linkSent: ', who has been sent this link',
	linkToPassOn: '. Show the user this link to pass on',
	/**
	 * @param {string} message
	 * @param {string} task
	 * @param {string} price
	 * @param {string} name
	 * @param {string} url
	 * @param {string} time
	 * @param {string} opened
	 */
	link: (message, task, price, name, url, time, opened) => `${message}

To ${task}${price}, the user opens this link in a browser, which is a page of ${name}:

${url}

The link works for ${time}.${opened}

Show the user the link exactly as it is, alone on its line. When the user says that it is done, call this tool again with the same arguments: that continues this request, and asks for nothing that is done.`,
	/**
	 * @param {string} message
	 * @param {string} why
	 */
	notOpened: (message, why) => `${message}

The client did not open it: ${why}. If the user refused, stop, and do not call this tool again for it. Otherwise show the user the link.`,
	/**
	 * @param {string} message
	 * @param {string} why
	 * @param {string} url
	 */
	manage: (message, why, url) => `${message}

The user has a subscription for this, but ${why}. The user opens this link in a browser to settle it:

${url}

Show the user the link exactly as it is, alone on its line. The user need not subscribe again. When the user says that it is done, call this tool again with the same arguments.`,
	/**
	 * @param {string} message
	 * @param {string} who
	 * @param {string} sent
	 * @param {string} name
	 * @param {string} url
	 * @param {string} time
	 * @param {string} nobody
	 */
	approvers: (message, who, sent, name, url, time, nobody) => `${message}

The decision is for ${who}${sent}, which is a page of ${name}:

${url}

The link works for ${time}. ${nobody} has decided yet. To learn the decision, call this tool again with the same arguments later: that continues this request, and asks nobody again.`,
	/**
	 * @param {string} message
	 * @param {string} state
	 */
	open: (message, state) => `${message}

${state} It goes on without this call. To learn how it ends, call this tool again with the same arguments later: that continues the same request and does not start another one.`,
	/** @param {string} comment */
	comment: (comment) => `: “${comment}”`,
	/**
	 * @param {string} approver
	 * @param {string} comment
	 */
	declined: (approver, comment) => `Not done: ${approver} declined${comment}.`,
	/** @param {string} detail */
	detail: (detail) => ` (${detail})`,
	/**
	 * @param {string} why
	 * @param {string} detail
	 */
	failure: (why, detail) => `Not done: ${why}${detail}.`,
};
