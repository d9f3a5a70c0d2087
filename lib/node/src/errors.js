// What this package throws beside TypeError (a mistake in the call) and the
// errors of PostgreSQL. Every class has its `code`; no message, and nothing
// else on an error, holds a key, a token, a result or a password.

export class UrlModeError extends Error {
	/**
	 * @param {string} code
	 * @param {string} message
	 */
	constructor(code, message) {
		super(message);
		this.name = new.target.name;
		/** Stays the same from version to version; the message may not. */
		this.code = code;
	}
}

/** `timeout` passed first. The elicitation goes on: wait again, or cancel it. */
export class ElicitationTimeoutError extends UrlModeError {
	/**
	 * @param {string} id
	 * @param {number} timeout milliseconds
	 * @param {'pending' | 'opened' | 'processing'} status
	 */
	constructor(id, timeout, status) {
		super('ELICITATION_TIMEOUT', timeout === 0
			? `elicitation ${id} is not completed`
			: `elicitation ${id} was not completed within ${timeout} ms`);
		/** How far it had got, as far as the wait saw. */
		this.status = status;
	}
}

/** The MCP client that was asked has closed its session or its connection; the elicitation is cancelled, `client_gone`. */
export class ElicitationClientGoneError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_CLIENT_GONE', `the client that elicitation ${id} was asked of is gone`);
	}
}

/** There is no such elicitation, or it is another subject's or session's. */
export class ElicitationNotFoundError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_NOT_FOUND', `there is no elicitation ${id} of this subject and session`);
	}
}

/** `create` was given an id that is taken. */
export class ElicitationExistsError extends UrlModeError {
	/** @param {string} id */
	constructor(id) {
		super('ELICITATION_EXISTS', `there is an elicitation ${id} already`);
	}
}

/** What is sealed in the row does not open: its key is not in the keys file, or it is not genuine. */
export class ElicitationSealError extends UrlModeError {
	/**
	 * @param {string} id
	 * @param {string} reason
	 */
	constructor(id, reason) {
		super('ELICITATION_SEAL', `what is sealed in elicitation ${id} cannot be opened: ${reason}`);
	}
}

/** `close()` was called. */
export class UrlModeClosedError extends UrlModeError {
	constructor() {
		super('URLMODE_CLOSED', 'this UrlMode is closed');
	}
}

/** The keys file is refused; the message has its name and the reason. */
export class KeysFileError extends UrlModeError {
	/** @param {string} message */
	constructor(message) {
		super('URLMODE_KEYS_FILE', message);
	}
}

/** A state token is not exactly what it must be, or its time is over. */
export class StateTokenError extends UrlModeError {
	/** @param {'STATE_INVALID' | 'STATE_EXPIRED'} code */
	constructor(code) {
		super(code, code === 'STATE_EXPIRED' ? 'the state token is expired' : 'the state token is not valid');
	}
}
