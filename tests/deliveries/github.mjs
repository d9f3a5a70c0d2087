// SPDX-License-Identifier: MIT
import { digest, event, hmac, json, sha256 } from './support.mjs';

export function deliveries() {
	const secret = "It's a Secret to Everybody";
	const deliver = (name, content, effect, more, header) => {
		const body = typeof content === 'string' ? content : json(content);
		const mac = hmac('sha256', secret, body, 'hex');
		return {
			name, body,
			headers: {
				'x-github-event': 'installation', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
				'x-hub-signature-256': header?.(mac, body) ?? `sha256=${mac}`,
			},
			...effect === null ? { verdict: 'forged' } : { verdict: 'good', events: [event(effect, content.action, `sha256:${sha256(body)}`, { id: null, ...more })] },
		};
	};
	const installation = { id: 42, app_id: 7, account: { login: 'octocat', id: 1 } };

	return {
		site: { secrets: [secret] },
		deliveries: [
			deliver('installed', { action: 'created', installation }, 'accepted', { reference: '42' }),
			deliver('removed', { action: 'deleted', installation }, 'cancelled', { reference: '42' }),
			deliver('suspended', { action: 'suspend', installation }, 'ignore', { reference: '42' }),
			deliver('an-issue', { action: 'created', installation: { id: 42, node_id: 'x' }, issue: {} }, 'ignore', { reference: '42' }),
			// GitHub's default is a form. Its ping is the first that cannot be read.
			(({ body, ...ping }) => ({ ...ping, body, events: [event('ignore', '', digest(body), { id: null })] }))(
				deliver('ping', { zen: 'Keep it logically awesome.', hook_id: 1, hook: { type: 'App' } }, 'ignore')),
			{
				...deliver('ping as a form', new URLSearchParams({ payload: json({ zen: 'Keep it logically awesome.', hook_id: 1 }) }).toString(), null),
				content_type: 'application/x-www-form-urlencoded', verdict: 'malformed',
			},
			deliver('sha1', { action: 'created', installation }, null, {},
				(mac, body) => `sha1=${hmac('sha1', secret, body, 'hex')}`),
			deliver('no-prefix', { action: 'created', installation }, null, {}, (mac) => mac),
			deliver('twice', { action: 'created', installation }, null, {}, (mac) => `sha256=${mac}, sha256=${mac}`),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'oauth', display_name: 'GitHub', secrets: [text()] });

export const sender = {
	event: () => ({ action: 'created', installation: { id: 1, app_id: 2 } }),
	sign: async (body, { secret }) => {
		const { sign } = await import('@octokit/webhooks-methods');
		return { 'X-Hub-Signature-256': await sign(secret, body) };
	},
};
