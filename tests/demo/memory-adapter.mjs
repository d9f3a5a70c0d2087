// Keeps the sessions, codes and tokens of oidc-provider in memory. Its own
// in-memory store has a thousand entries, which is too few for a thousand
// sign-ins at once.

/** Returns an adapter class for one provider; providers do not share entries. */
export function memoryAdapter() {
	const rows = new Map();

	return class MemoryAdapter {
		constructor(model) {
			this.model = model;
		}

		key(id) {
			return `${this.model}:${id}`;
		}

		async upsert(id, payload, expiresIn) {
			const key = this.key(id);
			rows.set(key, payload);
			setTimeout(() => {
				if (rows.get(key) === payload) {
					rows.delete(key);
				}
			}, expiresIn * 1000).unref();
		}

		async find(id) {
			return rows.get(this.key(id));
		}

		async findByUid(uid) {
			for (const [key, payload] of rows) {
				if (key.startsWith(`${this.model}:`) && payload.uid === uid) {
					return payload;
				}
			}
			return undefined;
		}

		async consume(id) {
			rows.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
		}

		async destroy(id) {
			rows.delete(this.key(id));
		}

		async revokeByGrantId(grantId) {
			for (const [key, payload] of rows) {
				if (payload.grantId === grantId) {
					rows.delete(key);
				}
			}
		}
	};
}
