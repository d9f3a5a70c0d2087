// What tools return, and the store of a user. Compared with lynq 0.13.0.

export const text = (value) => ({ content: [{ type: 'text', text: value }] });

export const error = (message) => ({ ...text(message), isError: true });

/** Every use of it throws in a session without a user, which is `user`, `user.id` or `user.sub`. */
export function userStoreOf(session, stored) {
	const keyOf = (key) => {
		const user = session.get('user');
		const id = typeof user === 'string' ? user : user?.id ?? user?.sub;
		if (id === undefined) throw new Error('userStore requires a user in session. Call session.set(\'user\', ...) first.');
		return `user:${id}:${key}`;
	};
	return {
		get: async (key) => stored.get(keyOf(key)),
		set: async (key, value) => void stored.set(keyOf(key), value),
		delete: async (key) => void stored.delete(keyOf(key)),
	};
}
