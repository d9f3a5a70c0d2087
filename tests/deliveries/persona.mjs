// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, NOW } from './support.mjs';

export function deliveries() {
	const deliver = (name, effect, header, called = name) => {
		const body = json({
			data: { type: 'event', id: `evt_${name}`, attributes: { name: `inquiry.${name}`, payload: { data: { type: 'inquiry', id: 'inq_1', attributes: { 'reference-id': ID } } } } },
		});
		const list = (secret = 'wbhsec_1', t = NOW) => `t=${t},v1=${hmac('sha256', secret, `${t}.${body}`, 'hex')}`;
		return {
			name: called, body, headers: { 'persona-signature': header?.(list, list().slice(-64)) ?? list() },
			...['forged', 'stale', 'unsigned'].includes(effect) ? { verdict: effect }
				: { verdict: 'good', events: [event(effect, `inquiry.${name}`, `evt_${name}`, { reference: 'inq_1' })] },
		};
	};

	return {
		site: { secrets: ['wbhsec_1'] },
		deliveries: [
			deliver('approved', 'accepted'), deliver('declined', 'failed'), deliver('marked-for-review', 'processing'), deliver('completed', 'recheck'), deliver('expired', 'recheck'),
			deliver('failed', 'recheck'), deliver('started', 'ignore'),
			// While the secret is rotated: a list of each, of which the site has one or both.
			...[
				['the known secret second', 'accepted', (list) => `${list('wbhsec_2')} ${list()}`],
				['the known secret first', 'accepted', (list) => `${list()} ${list('wbhsec_2')}`],
				['a list twice', 'accepted', (list) => `${list()} ${list()}`],
				['as many lists as there may be', 'accepted', (list) => `${list('a')} ${list('b')} ${list('c')} ${list()}`],
				['a list too many', 'forged', (list) => `${list()} ${list('a')} ${list('b')} ${list('c')} ${list('d')}`],
				['neither secret', 'forged', (list) => `${list('wbhsec_2')} ${list('wbhsec_3')}`],
				// Neither a time nor a signature of one list is looked for in another.
				['an old list before one that anyone can write', 'stale', (list) => `${list('wbhsec_1', NOW - 301)} ${list('x')}`],
				['an old list after one that anyone can write', 'stale', (list) => `${list('x')} ${list('wbhsec_1', NOW - 301)}`],
				['the time of another list', 'forged', (list) => `${list('wbhsec_1', NOW - 301).replace(/t=\d+/, `t=${NOW}`)} t=${NOW - 301},v1=${'0'.repeat(64)}`],
				['a fresh list after a foreign old one', 'accepted', (list) => `${list('x', NOW - 301)} ${list()}`],
				['of two right lists the first counts', 'stale', (list) => `${list('wbhsec_1', NOW - 301)} ${list()}`],
				['a list without a signature', 'forged', (list) => `${list()} t=${NOW}`],
				['a list without a time', 'unsigned', (list, v1) => `${list()} v1=${v1}`],
				['a signature that is no hexadecimal', 'forged', (list) => `${list()} t=${NOW},v1=xyz`],
				['two blanks', 'forged', (list) => `${list()}  ${list('wbhsec_2')}`],
				['a comma between the lists', 'forged', (list) => `${list()},${list('wbhsec_2')}`],
			].map(([called, effect, header]) => deliver('approved', effect, header, called)),
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ kind: 'signature', display_name: 'Persona', secrets: [`wbhsec_${text()}`] });

export const sender = {
	event: (id, what) => ({
		data: {
			id: `evt_${randomUUID()}`,
			attributes: {
				name: { paid: 'inquiry.approved', failed: 'inquiry.declined' }[what],
				payload: { data: { id: `inq_${id}`, attributes: { 'reference-id': id } } },
			},
		},
	}),
	sign: (body, { secret, timestamp }) => ({ 'Persona-Signature': `t=${timestamp},v1=${hmac('sha256', secret, `${timestamp}.${body}`)}` }),
};
