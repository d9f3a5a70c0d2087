// Generated from lib/contract by `make contract`: change it there.

import { UrlModeError } from './error.js';

/** @typedef {'' | 'abandoned' | 'aborted' | 'access_denied' | 'amount_mismatch' | 'cancelled' | 'closed' | 'declined' | 'expired' | 'held' | 'not_checked' | 'not_sent' | 'payment_failed' | 'provider_error' | 'refused' | 'refused_input' | 'superseded' | 'timeout'} KnownReason a reason that urlmode itself writes */

/**
 * The MCP client has closed its session or connection. The elicitation stays open, and the next call goes on with it.
 */
export class ElicitationClientGoneError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_CLIENT_GONE', `the MCP client of elicitation ${id} has closed its session or connection`);
	}
}

/** The elicitation does not exist, or belongs to another subject or session. */
export class ElicitationNotFoundError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_NOT_FOUND', `elicitation ${id} does not exist for this subject and session`);
	}
}

/**
 * The elicitation that was to be claimed is not completed. If it was before, a failover of PostgreSQL has lost that:
 * wait for it again.
 */
export class ElicitationOpenError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_OPEN', `elicitation ${id} is open, perhaps again after a failover: wait for it before you claim it`);
	}
}

/** The lease of this claim has ended, and another call may have begun to claim the same outcome. */
export class ClaimLostError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('CLAIM_LOST', `the lease of this claim of elicitation ${id} has ended: another call may have begun`);
	}
}

/**
 * All that was paid went back, or is disputed, while a call was doing the work that it had paid for. The call can stop,
 * or go on.
 */
export class ClaimRefundedError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('CLAIM_REFUNDED', `all that was paid for elicitation ${id} went back while a call was working for it`);
	}
}

/** This owner has as many open elicitations as one may have, and has opened all of them. */
export class ElicitationLimitError extends UrlModeError {
	constructor() {
		super('ELICITATION_LIMIT', 'this subject has too many open elicitations: it must finish or leave some of them first');
	}
}

/**
 * The first payment of a subscription was to be asked for, and the user has one for this item that is not over: also
 * one that is past due or paused, which can be settled.
 */
export class ElicitationSubscribedError extends UrlModeError {
	/** @param {string} item */
	constructor(item) {
		super('ELICITATION_SUBSCRIBED', `this subject has a subscription for ${item} that is not over: its entitlement says how it stands`);
	}
}

/** An elicitation was to be created with an id that is in use. */
export class ElicitationExistsError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_EXISTS', `elicitation ${id} already exists: choose another id`);
	}
}

/** The payment that the server reports is not what the elicitation expects. Nothing was changed. */
export class ElicitationMismatchError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_MISMATCH', `the amount or the currency of the payment is not what elicitation ${id} expects`);
	}
}

/** The payment that the server reports has paid for another elicitation. Nothing was changed. */
export class ElicitationReferenceError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_REFERENCE', `the payment of this reference has paid for another elicitation than ${id}`);
	}
}

/** A sealed value cannot be opened: its key is not in the keys file, or it was changed. */
export class ElicitationSealError extends UrlModeError {
	/**
	 * @param {string} id
	 * @param {string} reason
	 */
	constructor(id, reason) {
		super('ELICITATION_SEAL', `the sealed data of elicitation ${id} cannot be opened: ${reason}`);
	}
}

/** PostgreSQL is too slow for the number of calls. This call has changed nothing: it can be made again later. */
export class UrlModeBusyError extends UrlModeError {
	/** @param {string} why */
	constructor(why) {
		super('URLMODE_BUSY', `PostgreSQL answers too slowly: ${why}. Nothing was changed`);
	}
}

/** The instance was closed. */
export class UrlModeClosedError extends UrlModeError {
	constructor() {
		super('URLMODE_CLOSED', 'this UrlMode is closed');
	}
}

/** The keys file is not acceptable. The message contains its name and the reason. */
export class KeysFileError extends UrlModeError {
	/** @param {string} message */
	constructor(message) {
		super('URLMODE_KEYS_FILE', message);
	}
}

/** The metadata of a provider, which are needed to connect an account, cannot be read. */
export class ProviderUnavailableError extends UrlModeError {
	/**
	 * @param {string} provider
	 * @param {string} reason
	 */
	constructor(provider, reason) {
		super('PROVIDER_UNAVAILABLE', `the metadata of ${provider} cannot be read: ${reason}`);
	}
}

/** The user has connected no account at this provider, or not this one. */
export class AccountNotConnectedError extends UrlModeError {
	/** @param {string} provider */
	constructor(provider) {
		super('ACCOUNT_NOT_CONNECTED', `no account is connected at ${provider}`);
	}
}

/** The account must be connected again by its user. */
export class AccountReconnectError extends UrlModeError {
	/**
	 * @param {string} provider
	 * @param {string} account
	 * @param {string} reason
	 */
	constructor(provider, account, reason) {
		super('ACCOUNT_RECONNECT', `the account at ${provider} must be connected again: ${reason}`);
		this.account = account;
		/**
		 * The provider's code, or one of four. `expired`: there is no refresh token. `refused`: the provider's API has
		 * refused a token that is new, or that cannot be refreshed. `refresh_lost`: two answers did not arrive. `not_stored`:
		 * the provider has replaced the refresh token, and what it gave is too large or has a value that PostgreSQL does not
		 * take.
		 */
		this.reason = reason;
	}
}

/** The access token has expired or was refused, and the provider cannot refresh it just now. */
export class AccountUnavailableError extends UrlModeError {
	/**
	 * @param {string} provider
	 * @param {string} detail
	 */
	constructor(provider, detail) {
		super('ACCOUNT_UNAVAILABLE', `the token at ${provider} cannot be refreshed just now: ${detail}`);
		this.detail = detail;
	}
}

/** The tokens of an account cannot be opened. */
export class AccountSealError extends UrlModeError {
	/**
	 * @param {string} provider
	 * @param {string} reason
	 */
	constructor(provider, reason) {
		super('ACCOUNT_SEAL', `the tokens of an account at ${provider} cannot be opened: ${reason}`);
		this.reason = reason;
	}
}

/** The provider has answered with more than can be kept of an account. */
export class AccountSizeError extends UrlModeError {
	/** @param {string} provider */
	constructor(provider) {
		super('ACCOUNT_SIZE', `what ${provider} has answered is too large to be kept`);
	}
}
