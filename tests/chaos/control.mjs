// The file that faults.c reads: how far clocks are ahead, which time has passed, which disks are full, whether host
// names are found, and which address they have.

import { closeSync, openSync, writeSync } from 'node:fs';

export class Control {
	#fd;
	#bytes = Buffer.alloc(32);

	/** @param {string} path made anew */
	constructor(path) {
		this.path = path;
		this.#fd = openSync(path, 'w', 0o644);
		this.#write();
	}

	#write() {
		writeSync(this.#fd, this.#bytes, 0, this.#bytes.length, 0);
	}

	/** @param {number} seconds */
	setClockAhead(seconds) {
		this.#bytes.writeBigInt64LE(BigInt(seconds), 0);
		this.#write();
	}

	/** @param {'data' | 'wal'} disk */
	setFull(disk, isFull) {
		this.#bytes.writeInt32LE(Number(isFull), disk === 'data' ? 8 : 12);
		this.#write();
	}

	setResolverHangs(hangs) {
		this.#bytes.writeInt32LE(Number(hangs), 16);
		this.#write();
	}

	/** Whoever looks up localhost then is told 127.0.0.2. */
	setLocalhostElsewhere(isElsewhere) {
		this.#bytes.writeInt32LE(Number(isElsewhere), 20);
		this.#write();
	}

	/** The clocks for times that have passed, of all programs at once. @param {number} seconds */
	setUptimeAhead(seconds) {
		this.#bytes.writeBigInt64LE(BigInt(seconds), 24);
		this.#write();
	}

	close() {
		closeSync(this.#fd);
	}
}
