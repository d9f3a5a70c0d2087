// What has come of the users' stories, by the rows of the database.

/**
 * @param {import('./users.mjs').Story[]} stories all of which have ended
 * @param {(text: string, values: unknown[]) => Promise<object[]>} sql as the administrator
 * @returns {Promise<{ lost: string[], doubled: string[], differs: string[] }>} what is wrong, in lists that should be empty
 */
export async function wrongStories(stories, sql) {
	const rows = new Map((await sql(`SELECT e.id, e.status, e.action, e.failed_attempts,
		(SELECT count(*)::integer FROM urlmode.payment p WHERE p.elicitation = e.id) AS payments,
		(SELECT count(*)::integer FROM urlmode.payment p WHERE p.elicitation = e.id AND p.claimed_at IS NOT NULL) AS claimed
		FROM urlmode.elicitation e WHERE e.id = ANY ($1)`, [stories.map(({ id }) => id)])).map((row) => [row.id, row]));
	const wrong = { lost: [], doubled: [], differs: [] };

	for (const { name, id, expected, acknowledged, waits, claims } of stories) {
		const row = rows.get(id);
		if (acknowledged && (row?.status !== 'completed' || row.action !== expected.action)) {
			wrong.lost.push(`${name} ${id}: ${row?.status} ${row?.action}`);
		}
		for (const outcome of await Promise.all(waits)) {
			const isRight = outcome.action === expected.action && (!expected.detail || outcome.code === expected.detail);
			if (!isRight) wrong.differs.push(`${name} ${id}: ${JSON.stringify(outcome)}`);
		}
		const won = (await claims ?? []).filter(({ claimed }) => claimed).length;
		// A claim whose answer was lost won as well, and its server does not know.
		const mayHaveWon = (await claims ?? []).some(({ failures }) => failures > 0);
		if (name === 'pay' && (row?.payments !== 1 || row.claimed !== 1 || won > 1 || (won === 0 && !mayHaveWon))) {
			wrong.doubled.push(`${id}: ${row?.payments} payments, ${row?.claimed} claimed, ${won} claims`);
		}
	}
	return wrong;
}
