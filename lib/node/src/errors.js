// The errors of this package. Besides these it throws TypeError for mistakes
// in a call, and passes on errors of PostgreSQL. Every class has its own
// `code`. No error contains a key, a token, a result or a password.

export class UrlModeError extends Error {
	/**
	 * @param {string} code
	 * @param {string} message
	 */
	constructor(code, message) {
		super(message);
		this.name = new.target.name;
		/** Does not change between versions. The message may. */
		this.code = code;
	}
}

/** `timeout` passed before the elicitation was completed. It stays open: wait again, or cancel it. */
export class ElicitationTimeoutError extends UrlModeError {
	/**
	 * @param {string} id
	 * @param {number} timeout milliseconds
	 * @param {'pending' | 'opened' | 'processing'} status
	 */
	constructor(id, timeout, status) {
		super('ELICITATION_TIMEOUT', timeout === 0
			? `elicitation ${id} is not completed yet`
			: `elicitation ${id} was not completed within ${timeout} ms`);
		/** The last status that the wait has seen. */
		this.status = status;
	}
}

/**
 * The MCP client has closed its session or connection. If nobody had opened the elicitation, it is cancelled with
 * reason `client_gone`.
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

/** `create` was called with an id that is in use. */
export class ElicitationExistsError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_EXISTS', `elicitation ${id} already exists: choose another id`);
	}
}

/** The payment that `complete` or `recheck` reports is not what the elicitation expects. Nothing was changed. */
export class ElicitationMismatchError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_MISMATCH', `the amount or the currency of the payment is not what elicitation ${id} expects`);
	}
}

/** The payment that `complete` or `recheck` reports has paid for another elicitation. Nothing was changed. */
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

/** `close()` was called. */
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

/**
 * The requestState of a call is not valid for it: it was changed, has expired, or belongs to another user or request.
 * An adapter throws it.
 */
export class RequestStateError extends UrlModeError {
	/** @param {'invalid_request_state' | 'expired_request_state'} reason */
	constructor(reason) {
		const what = reason === 'expired_request_state' ? 'has expired' : 'does not belong to this call';
		super('REQUEST_STATE', `The requestState ${what}. Call the tool again without requestState and inputResponses: `
			+ 'that goes on with what the user has begun, or asks again.');
		this.reason = reason;
	}
}

/** A state token is invalid or expired. */
export class StateTokenError extends UrlModeError {
	/** @param {'STATE_INVALID' | 'STATE_EXPIRED'} code */
	constructor(code) {
		super(code, code === 'STATE_EXPIRED' ? 'the state token has expired' : 'the state token is not valid');
	}
}
