// SPDX-License-Identifier: MIT
import { expects, forged, ID, inHeader, signed } from './support.mjs';

export function deliveries() {
	const sign = signed('x-sha2-signature', 'onfido-token');
	const deliver = (name, action, object, resource, ...expected) => sign(name, {
		payload: { resource_type: action.split('.')[0], action, object: { id: 'run1', ...object }, ...resource && { resource } },
	}, ...expected);
	const run = (status, effect) => deliver(status, 'workflow_run.completed', { status }, { id: 'run1', status, customer_user_id: ID, output: { score: 0.75 } },
		expects(effect, 'workflow_run.completed', { reference: 'run1' }));

	return {
		site: { secrets: ['onfido-token'] },
		deliveries: [
			run('approved', 'accepted'), run('declined', 'failed'), run('review', 'recheck'), run('abandoned', 'recheck'), run('error', 'recheck'),
			deliver('task', 'workflow_task.completed', { status: 'completed' }, { id: 'task1', workflow_run_id: 'run1' },
				expects('ignore', 'workflow_task.completed', { id: null, reference: 'run1' })),
			deliver('without a resource', 'check.completed', { status: 'complete' }, undefined, expects('ignore', 'check.completed', { id: null, reference: 'run1' })),
			forged(run('approved', 'accepted'), { 'x-sha2-signature': '0'.repeat(64) }),
			{ ...forged(run('approved', 'accepted'), {}), name: 'no signature', verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', display_name: 'Onfido', secrets: [text()] });

export const sender = {
	event: (id, what) => {
		const run = { id: `run-${id}`, status: { paid: 'approved', failed: 'declined' }[what] };
		return {
			payload: { resource_type: 'workflow_run', action: 'workflow_run.completed', object: run, resource: { ...run, customer_user_id: id } },
		};
	},
	sign: inHeader('X-SHA2-Signature'),
};
