// SPDX-License-Identifier: MIT
import { digest, event, hmac, ID, json, NOW } from './support.mjs';

export function deliveries() {
	const secret = `whsec_${Buffer.alloc(24, 's').toString('base64')}`;
	const token = 'seal-secret';
	const sign = (body, time = NOW, key = secret) => ({ 'x-docuseal-signature': `${time}.${hmac('sha256', key, `${time}.${body}`)}` });
	const bodyOf = (type, status) => json({
		event_type: type, timestamp: '2023-11-14T22:13:20Z', data: { id: 1, submission_id: 2, external_id: ID, status: 'completed', submission: { id: 2, status } },
	});
	const deliver = (name, type, status, effect, headers = sign) => {
		const body = bodyOf(type, status);
		return {
			name, body, headers: headers(body),
			...['forged', 'unsigned', 'stale'].includes(effect) ? { verdict: effect } : { verdict: 'good', events: [event(effect, type, digest(body), { reference: '2' })] },
		};
	};
	const completed = (name, effect, headers) => deliver(name, 'form.completed', 'completed', effect, headers);
	// What only a token has come with does not take the place of the event with a signature.
	const byToken = ({ events: [one], ...delivery }) => ({ ...delivery, events: [{ ...one, identity: `token:${one.identity}` }] });
	const old = () => ({ 'x-docuseal-secret': token });

	return {
		site: { kind: 'signature', secrets: [secret, token] },
		deliveries: [
			completed('completed', 'accepted'),
			deliver('completed, and another has to sign', 'form.completed', 'pending', 'recheck'),
			deliver('declined', 'form.declined', 'declined', 'cancelled'),
			deliver('viewed', 'form.viewed', 'pending', 'ignore'),
			completed('with the header of before as well', 'accepted', (body) => ({ ...sign(body), ...old() })),
			completed('with another token', 'accepted', (body) => ({ ...sign(body), 'x-docuseal-secret': 'guessed' })),
			byToken(completed('with a token alone', 'recheck', old)),
			byToken(deliver('declined, with a token alone', 'form.declined', 'declined', 'recheck', old)),
			completed('with a token, and the signature of somebody else', 'forged', (body) => ({ ...sign(body, NOW, 'guessed'), ...old() })),
			completed('with a token, and no signature where it should be', 'forged', () => ({ 'x-docuseal-signature': 'none', ...old() })),
			completed('another token', 'forged', () => ({ 'x-docuseal-secret': `${token}x` })),
			completed('another secret', 'forged', (body) => sign(body, NOW, 'guessed')),
			completed('old', 'stale', (body) => sign(body, NOW - 301)),
			completed('old, with a token', 'stale', (body) => ({ ...sign(body, NOW - 301), ...old() })),
			completed('another time', 'forged', (body) => ({ 'x-docuseal-signature': sign(body)['x-docuseal-signature'].replace(/^\d+/, NOW + 1) })),
			completed('a part too many', 'forged', (body) => ({ 'x-docuseal-signature': `${sign(body)['x-docuseal-signature']}.00` })),
			completed('a part too few', 'forged', (body) => ({ 'x-docuseal-signature': sign(body)['x-docuseal-signature'].slice(11) })),
			completed('nothing', 'unsigned', () => ({})),
		],
	};
}

/** What the configuration of a stack has: the secret of now, and the token of before. */
export const stack = ({ text, standard }) => ({ kind: 'signature', secrets: [standard(), text()] });

export const sender = {
	event: (id, what) => ({
		event_type: what === 'cancelled' ? 'form.declined' : 'form.completed',
		data: { submission_id: `submission-${id}`, external_id: id, submission: { status: 'completed' } },
	}),
	// According to DocuSeal's own code, because npm has no package that signs.
	sign: (body, { secret, timestamp }) => (secret.startsWith('whsec_')
		? { 'X-Docuseal-Signature': `${timestamp}.${hmac('sha256', secret, `${timestamp}.${body}`)}` } : { 'X-DocuSeal-Secret': secret }),
};
