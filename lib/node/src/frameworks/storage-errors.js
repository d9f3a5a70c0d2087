// The errors that FrontMCP's storage interface promises, by their names and
// properties, because FrontMCP is not on npm. Compared with FrontMCP 1.5.6.

class StorageError extends Error {
	/**
	 * @param {string} message
	 * @param {unknown} [cause]
	 */
	constructor(message, cause) {
		super(message, cause === undefined ? undefined : { cause });
		this.name = new.target.name;
	}
}

export class StorageConnectionError extends StorageError {
	backend = 'postgresql';

	/** @param {unknown} cause */
	constructor(cause) {
		super('PostgreSQL cannot be reached', cause);
	}
}

export class StorageNotConnectedError extends StorageError {
	backend = 'postgresql';

	constructor() {
		super('the storage is not connected: call connect() first');
	}
}

export class StorageTTLError extends StorageError {
	/** @param {unknown} ttl */
	constructor(ttl) {
		super('ttlSeconds must be a whole number of seconds, at least 1');
		this.ttl = ttl;
	}
}

export class StorageOperationError extends StorageError {
	/**
	 * @param {string} operation
	 * @param {string} key
	 * @param {string} message
	 * @param {unknown} [cause]
	 */
	constructor(operation, key, message, cause) {
		super(`${operation} failed for key "${key}": ${message}`, cause);
		this.operation = operation;
		this.key = key;
	}
}
