// SPDX-License-Identifier: MIT
import { event, ID, json, sha256 } from './support.mjs';

export function deliveries() {
	const gitlab = json({ object_kind: 'issue', object_attributes: { id: 9, elicitation_id: ID } });
	const gitlabEvent = event('recheck', 'issue', `sha256:${sha256(gitlab)}`, { reference: '9' });
	return {
		site: { secrets: ['token-of-the-project'] },
		deliveries: [
			{ name: 'good', body: gitlab, headers: { 'x-gitlab-token': 'token-of-the-project' }, verdict: 'good', events: [gitlabEvent] },
			{ name: 'shorter', body: gitlab, headers: { 'x-gitlab-token': 'token-of-the-projec' }, verdict: 'forged' },
			{ name: 'none', body: gitlab, headers: {}, verdict: 'unsigned' },
		],
	};
}
