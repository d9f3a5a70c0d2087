// Whose an account is, as one text: the subject; of a tenant, its name, U+001F and the subject. A subject that has
// U+001F itself follows one as well. The key of the row and the seal of its tokens have it in place of the subject.

const BETWEEN = '\x1f';

/**
 * @param {string} tenant empty: none
 * @param {string} subject
 */
export function accountOwner(tenant, subject) {
	return tenant !== '' || subject.includes(BETWEEN) ? tenant + BETWEEN + subject : subject;
}

/**
 * @param {string} owner
 * @returns {{ tenant: string, subject: string }}
 */
export function whoseAccount(owner) {
	const at = owner.indexOf(BETWEEN);
	return at < 0 ? { tenant: '', subject: owner } : { tenant: owner.slice(0, at), subject: owner.slice(at + 1) };
}
