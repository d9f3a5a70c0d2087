// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { event, hmac, ID, json, NOW, PAID } from './support.mjs';

export function deliveries() {
	const secret = 'whsec_test_secret';
	const deliver = (name, type, object, expected, header, more = {}) => {
		const body = json({
			id: `evt_${name}`, object: 'event', type, livemode: true, ...more,
			data: { object: object.object ? object : { id: 'cs_1', object: 'checkout.session', client_reference_id: ID, amount_total: 1050, currency: 'eur', ...object } },
		});
		const v1 = hmac('sha256', secret, `${NOW}.${body}`, 'hex');
		return {
			name, body,
			headers: { 'stripe-signature': header?.(v1, body) ?? `t=${NOW},v1=${v1}` },
			...expected(`evt_${name}`, type),
		};
	};
	const good = (effect, more = { reference: 'cs_1', amount: 1050, currency: 'EUR' }) =>
		(identity, type) => ({ verdict: 'good', events: [event(effect, type, identity, {
			...['paid', 'accepted', 'processing'].includes(effect) && { checkout: more.reference }, ...more,
			...effect === 'paid' && type.startsWith('checkout.session') && { details: { ...more.details, checkout_paid: true } } })] });
	const refused = (verdict) => () => ({ verdict });
	const completed = 'checkout.session.completed';
	const paid = { payment_status: 'paid' };
	const moves = (effect) => good(effect, { reference: 'cs_1' });
	const metadata = { elicitation_id: ID };
	const charge = { id: 'ch_1', object: 'charge', payment_intent: 'pi_1', metadata, amount: 1050, currency: 'eur' };
	const intent = (status) => ({ id: 'pi_1', object: 'payment_intent', metadata, capture_method: 'manual', amount: 1050, currency: 'eur', status });
	const refund = (status, more) => ({ id: 're_1', object: 'refund', charge: 'ch_1', payment_intent: 'pi_1', metadata: {}, amount: 400, currency: 'eur', status, ...more });
	const refunded = (effect, status, more) => good(effect, { id: null, reference: 'pi_1', refund: 're_1', amount: 400, currency: 'EUR', details: { state: status }, ...more });
	const invoice = { id: 'in_1', object: 'invoice', metadata, billing_reason: 'manual', amount_due: 1050, amount_paid: 1050, currency: 'eur' };
	/** A dispute with this status, in an event of a second, and what is read of it. */
	const dispute = (name, what, status, effect, kind, second = 100) => {
		const moves = effect === 'disputed' ? {} : { amount: 1050, currency: 'EUR' };
		return deliver(name, `charge.dispute.${what}`,
			{ id: 'dp_1', object: 'dispute', charge: 'ch_1', payment_intent: 'pi_1', metadata: {}, amount: 1050, currency: 'eur', status, evidence_details: { due_by: 900 } },
			good(effect, { id: null, reference: 'pi_1', refund: 'dp_1', ...moves, details: { occurred_at: second, kind, state: status, evidence_due_at: 900 } }),
			undefined, { created: second });
	};
	const invoicePayment = (payment) => ({ id: 'inpay_1', object: 'invoice_payment', invoice: 'in_1', amount_paid: 1050, amount_requested: 1050, currency: 'eur', is_default: true, payment, status: 'paid' });
	const subscription = (more) => ({
		id: 'sub_1', object: 'subscription', status: 'active', metadata, cancel_at: null, cancel_at_period_end: false, pause_collection: null, trial_end: null,
		items: { object: 'list', data: [{ id: 'si_1', current_period_end: NOW + 2_592_000 }] }, currency: 'eur', ...more,
	});
	const own = (said, more) => good('subscription', {
		reference: 'sub_1', ...more,
		details: { subscription: { id: 'sub_1', at_ms: NOW * 1000, until_ms: (NOW + 2_592_000) * 1000, trial_until_ms: null, cancel_at_ms: null, paused: false, ...said } },
	});
	const disputed = { id: null, reference: 'pi_1', refund: 'dp_1', amount: 1050, currency: 'EUR' };

	return {
		site: { secrets: [secret], accounts: ['acct_ours'] },
		deliveries: [
			deliver('paid', completed, paid, good('paid')),
			deliver('paid-with-its-intent', completed, { ...paid, payment_intent: 'pi_1' },
				good('paid', { checkout: 'cs_1', reference: 'pi_1', amount: 1050, currency: 'EUR' })),
			// Whoever pays writes the address of a payment link, and client_reference_id in it.
			deliver('paid-by-a-link', completed, { ...paid, payment_link: 'plink_1' }, good('ignore', { reference: 'cs_1' })),
			...['succeeded', 'failed'].map((ended) => deliver(`${ended}-by-a-link`, `checkout.session.async_payment_${ended}`, { ...paid, payment_link: 'plink_1' },
				good('ignore', { reference: 'cs_1' }))),
			deliver('with-tax', completed, { ...paid, total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 168 } },
				good('paid', { reference: 'cs_1', amount: 1050, currency: 'EUR', details: { tax: 168 } })),
			deliver('with-a-tax-that-is-none', completed, { ...paid, total_details: { amount_tax: 'included' } }, good('paid')),
			deliver('free', completed, { payment_status: 'no_payment_required', amount_total: 0 },
				good('paid', { reference: 'cs_1', amount: 0, currency: 'EUR' })),
			deliver('waits', completed, { payment_status: 'unpaid' }, good('processing')),
			deliver('late', 'checkout.session.async_payment_succeeded', paid, good('paid')),
			deliver('bounced', 'checkout.session.async_payment_failed', { payment_status: 'unpaid' }, good('failed')),
			deliver('expired', 'checkout.session.expired', { payment_status: 'unpaid' }, good('expired')),
			// A card is refused, and the next one is taken.
			deliver('card-refused', 'payment_intent.payment_failed',
				{ id: 'pi_1', object: 'payment_intent', metadata, amount: 1050, currency: 'eur', last_payment_error: { code: 'card_declined' } },
				good('attempt_failed', { reference: 'pi_1' })),
			deliver('then-paid', completed, paid, good('paid')),
			deliver('card-refused-unnamed', 'payment_intent.payment_failed', { id: 'pi_1', object: 'payment_intent', metadata: {}, currency: 'eur' },
				good('attempt_failed', { id: null, reference: 'pi_1' })),
			// Manual capture: authorised, then captured or released.
			deliver('authorised', completed, { payment_status: 'unpaid', payment_intent: 'pi_1' }, good('processing', { checkout: 'cs_1', reference: 'pi_1', amount: 1050, currency: 'EUR' })),
			deliver('to-be-captured', 'payment_intent.amount_capturable_updated', intent('requires_capture'), good('processing', { checkout: undefined, reference: 'pi_1' })),
			deliver('nothing-to-capture', 'payment_intent.amount_capturable_updated', intent('succeeded'), good('ignore', { reference: 'pi_1' })),
			deliver('captured', 'charge.captured', { ...charge, captured: true, amount_captured: 1050 }, good('paid', { checkout: undefined, reference: 'pi_1', amount: 1050, currency: 'EUR' })),
			deliver('captured-in-part', 'charge.captured', { ...charge, captured: true, amount_captured: 700 }, good('paid', { checkout: undefined, reference: 'pi_1', amount: 700, currency: 'EUR' })),
			deliver('released', 'payment_intent.canceled', intent('canceled'), good('failed', { reference: 'pi_1' })),
			deliver('released-unnamed', 'payment_intent.canceled', { ...intent('canceled'), metadata: {} }, good('failed', { id: null, reference: 'pi_1' })),
			deliver('not-captured-in-time', 'charge.expired', { ...charge, captured: false, amount_captured: 0 }, good('failed', { reference: 'pi_1', currency: undefined })),
			// What was paid goes back, first in part, then all of it.
			...['pending', 'requires_action', 'succeeded'].map((status) => deliver(`refunded-${status}`, 'refund.created', refund(status), refunded('refunded', status))),
			deliver('refund-that-failed-at-once', 'refund.created', refund('failed'), refunded('refund_reversed', 'failed')),
			deliver('refund-updated', 'refund.updated', refund('succeeded'), refunded('refunded', 'succeeded')),
			deliver('refund-updated-of-a-charge', 'charge.refund.updated', refund('succeeded'), refunded('refunded', 'succeeded')),
			deliver('refund-failed', 'refund.failed', refund('failed'), refunded('refund_reversed', 'failed')),
			deliver('refund-updated-and-failed', 'refund.updated', refund('failed'), refunded('refund_reversed', 'failed')),
			deliver('refund-of-a-charge-failed', 'charge.refund.updated', refund('failed'), refunded('refund_reversed', 'failed')),
			deliver('refund-canceled', 'refund.updated', refund('canceled'), refunded('refund_reversed', 'canceled')),
			deliver('refund-at-no-time', 'refund.created', refund('succeeded'), refused('malformed'), undefined, { created: 'yesterday' }),
			// A total, in which a refund that failed is not any more.
			deliver('refunded-in-total', 'charge.refunded', { ...charge, amount_refunded: 400 }, good('ignore', { reference: 'pi_1' })),
			// A dispute, whose events have a time and a status. What comes back of one that is lost is not the payment.
			dispute('disputed', 'created', 'needs_response', 'disputed', 'dispute'),
			dispute('inquiry', 'created', 'warning_needs_response', 'disputed', 'dispute'),
			dispute('inquiry-closed', 'closed', 'warning_closed', 'disputed', 'dispute_won'),
			dispute('dispute-prevented', 'closed', 'prevented', 'disputed', 'dispute_won'),
			dispute('dispute-withdrawn', 'funds_withdrawn', 'needs_response', 'refunded', 'dispute', 110),
			dispute('dispute-under-review', 'updated', 'under_review', 'disputed', 'dispute', 120),
			dispute('dispute-won', 'closed', 'won', 'disputed', 'dispute_won', 130),
			dispute('dispute-reinstated', 'funds_reinstated', 'won', 'refund_reversed', 'dispute_won', 130),
			dispute('dispute-withdrawn-again', 'funds_withdrawn', 'under_review', 'refunded', 'dispute', 140),
			dispute('dispute-lost', 'closed', 'lost', 'refunded', 'dispute_lost', 150),
			dispute('dispute-lost-and-reinstated', 'funds_reinstated', 'lost', 'refunded', 'dispute_lost', 150),
			// after_expiration.recovery: a new session, of the elicitation and the checkout of the one that expired.
			deliver('recovered', completed, { ...paid, id: 'cs_2', recovered_from: 'cs_1', payment_intent: 'pi_2' },
				good('paid', { checkout: 'cs_1', reference: 'pi_2', amount: 1050, currency: 'EUR' })),
			// An identity check that fails once.
			...Object.entries({ processing: 'processing', requires_input: 'attempt_failed', verified: 'accepted', canceled: 'expired' }).map(([status, effect]) =>
				deliver(`identity-${status}`, `identity.verification_session.${status}`,
					{ id: 'vs_1', object: 'identity.verification_session', client_reference_id: ID, status },
					good(effect, { reference: 'vs_1' }))),
			// A hosted invoice; those of a subscription pay for nothing that was asked for.
			deliver('invoice-refused', 'invoice.payment_failed', invoice, good('attempt_failed', { reference: 'in_1' })),
			deliver('invoice-paid', 'invoice.paid', invoice, good('paid', { reference: 'in_1', amount: 1050, currency: 'EUR' })),
			deliver('invoice-paid-before-basil', 'invoice.paid', { ...invoice, payment_intent: 'pi_1' },
				good('paid', { checkout: 'in_1', reference: 'pi_1', amount: 1050, currency: 'EUR' })),
			deliver('invoice-void', 'invoice.voided', invoice, good('failed', { reference: 'in_1' })),
			deliver('invoice-uncollectible', 'invoice.marked_uncollectible', invoice, good('failed', { reference: 'in_1' })),
			// A subscription: its first payment, its renewals, and what it is.
			deliver('subscription-paid', completed, { ...paid, mode: 'subscription', subscription: 'sub_1', invoice: 'in_2', payment_intent: null },
				good('paid', { reference: 'in_2', checkout: 'cs_1', amount: 1050, currency: 'EUR', details: { subscription: { id: 'sub_1', at_ms: NOW * 1000 } } }), undefined, { created: NOW }),
			...[['basil', { parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_1', metadata } } }],
				['before-basil', { subscription: 'sub_1', subscription_details: { metadata }, payment_intent: 'pi_2' }]].flatMap(([version, of]) => [
				deliver(`subscription-renewed-${version}`, 'invoice.paid', { ...invoice, ...of, metadata: {}, billing_reason: 'subscription_cycle' },
					good('renewed', { reference: of.payment_intent ?? 'in_1', amount: 1050, currency: 'EUR', details: { subscription: { id: 'sub_1', account: 'acct_ours', at_ms: NOW * 1000 } } }),
					undefined, { created: NOW, account: 'acct_ours' }),
				deliver(`subscription-first-invoice-${version}`, 'invoice.paid', { ...invoice, ...of, metadata: {}, billing_reason: 'subscription_create' },
					version === 'basil' ? good('ignore', { reference: 'in_1' }) : good('named', { reference: 'in_1', details: { also: 'pi_2' } })),
			]),
			// Which payment intent has paid an invoice.
			deliver('invoice-payment', 'invoice_payment.paid', invoicePayment({ type: 'payment_intent', payment_intent: 'pi_2' }), good('named', { id: null, reference: 'in_1', details: { also: 'pi_2' } })),
			deliver('invoice-payment-by-a-record', 'invoice_payment.paid', invoicePayment({ type: 'payment_record', payment_record: 'prec_1' }), good('ignore', { id: null, reference: 'inpay_1' })),
			...Object.entries({ incomplete: undefined, trialing: 'trialing', active: 'active', past_due: 'past_due', paused: 'paused', canceled: 'ended', unpaid: 'ended', incomplete_expired: 'ended' })
				.map(([status, word]) => deliver(`subscription-${status}`, `customer.subscription.${{ canceled: 'deleted', incomplete: 'created', paused: 'paused' }[status] ?? 'updated'}`,
					subscription({ status }), own({ ...word && { status: word } }), undefined, { created: NOW })),
			deliver('subscription-resumed', 'customer.subscription.resumed', subscription({}), own({ status: 'active' }), undefined, { created: NOW }),
			deliver('subscription-before-basil', 'customer.subscription.updated', subscription({ current_period_end: NOW + 9, items: { data: [{}] } }),
				own({ status: 'active', until_ms: (NOW + 9) * 1000 }), undefined, { created: NOW }),
			deliver('subscription-cancelled', 'customer.subscription.updated', subscription({ cancel_at_period_end: true, cancel_at: NOW + 2_592_000 }),
				own({ status: 'active', cancel_at_ms: (NOW + 2_592_000) * 1000 }), undefined, { created: NOW }),
			deliver('subscription-with-a-trial', 'customer.subscription.created', subscription({ status: 'trialing', trial_end: NOW + 5 }),
				own({ status: 'trialing', trial_until_ms: (NOW + 5) * 1000 }), undefined, { created: NOW }),
			deliver('subscription-not-collected', 'customer.subscription.updated', subscription({ pause_collection: { behavior: 'void', resumes_at: null } }),
				own({ status: 'active', paused: true }), undefined, { created: NOW }),
			deliver('subscription-of-others', 'customer.subscription.updated', subscription({ metadata: {} }), own({ status: 'active' }, { id: null }), undefined, { created: NOW }),
			deliver('subscription-in-test-mode', 'customer.subscription.updated', subscription({}), good('other_mode', { reference: 'sub_1' }), undefined, { created: NOW, livemode: false }),
			deliver('subscription-with-no-time', 'customer.subscription.updated', subscription({ items: { data: [{ current_period_end: 'soon' }] } }), refused('malformed'), undefined, { created: NOW }),
			...['payment_failed', 'voided', 'marked_uncollectible'].map((what) => deliver(`renewal-${what}`, `invoice.${what}`,
				{ ...invoice, billing_reason: 'subscription_cycle' }, good('ignore', { reference: 'in_1' }))),
			deliver('invoice-of-a-renewal', 'invoice.paid', { ...invoice, billing_reason: 'subscription_cycle' }, good('renewed', { reference: 'in_1', amount: 1050, currency: 'EUR' })),
			deliver('invoice-of-a-first-payment', 'invoice.paid', { ...invoice, billing_reason: 'subscription_create' }, good('ignore', { reference: 'in_1' })),
			deliver('subscription-begun', completed, { ...paid, mode: 'subscription', subscription: 'sub_1', invoice: 'in_2', payment_intent: null }, good('paid', { reference: 'in_2', checkout: 'cs_1', amount: 1050, currency: 'EUR', details: { subscription: { id: 'sub_1' } } })),
			deliver('trial-begun', completed, { payment_status: 'no_payment_required', mode: 'subscription', amount_total: 0 }, good('paid', { reference: 'cs_1', amount: 0, currency: 'EUR' })),
			deliver('test-mode', completed, paid, moves('other_mode'), undefined, { livemode: false }),
			deliver('test-mode-without-a-meaning', 'customer.created', {}, moves('ignore'), undefined, { livemode: false }),
			deliver('test-mode-negative', completed, { ...paid, amount_total: -1 }, moves('other_mode'), undefined, { livemode: false }),
			deliver('mode-is-not-text', completed, paid, refused('malformed'), undefined, { livemode: [] }),
			deliver('mode-unsaid', completed, paid, good('paid'), undefined, { livemode: null }),
			deliver('our-account', completed, paid, good('paid'), undefined, { account: 'acct_ours' }),
			deliver('foreign-account', completed, paid, moves('other_account'), undefined, { account: 'acct_theirs' }),
			deliver('foreign-account-in-test-mode', completed, paid, moves('other_mode'), undefined, { account: 'acct_theirs', livemode: false }),
			deliver('other-type', 'customer.created', {}, good('ignore', { reference: 'cs_1' })),
			deliver('not-ours', completed, { ...paid, client_reference_id: null },
				good('paid', { id: null, reference: 'cs_1' })),
			deliver('somebody-elses', completed, { ...paid, client_reference_id: 'cart-17' },
				good('paid', { id: null, reference: 'cs_1' })),
			deliver('no-amount', completed, { ...paid, amount_total: null }, good('paid', { reference: 'cs_1' })),
			deliver('amount-of-another-kind', completed, { ...paid, amount_total: 10.5 }, refused('malformed')),
			deliver('negative', completed, { ...paid, amount_total: -1 }, refused('malformed')),
			// Stripe's units are not those of ISO 4217: 5 ISK, 50,000 MGA, 300 UGX, 5,000 CLP and 1.230 KWD.
			...[['isk', 500, 5], ['mga', 50_000, 5_000_000], ['ugx', 30_000, 300], ['clp', 5_000, 5_000], ['kwd', 1_230, 1_230]].map(
				([currency, amount_total, amount]) => deliver(`paid-in-${currency}`, completed, { ...paid, amount_total, currency },
					good('paid', { reference: 'cs_1', amount, currency: currency.toUpperCase() }))),
			deliver('refunded-in-isk', 'refund.created', refund('succeeded', { amount: 300, currency: 'isk' }),
				refunded('refunded', 'succeeded', { amount: 3, currency: 'ISK' })),
			deliver('a-fraction-of-isk', completed, { ...paid, amount_total: 550, currency: 'isk' }, refused('malformed')),
			deliver('in-a-token', completed, { ...paid, currency: 'usdc' }, refused('malformed')),
			deliver('two-signatures', completed, paid, good('paid'),
				(v1) => `t=${NOW},v1=${'0'.repeat(64)},v1=${v1}`),
			deliver('v0-only', completed, paid, refused('forged'), (v1) => `t=${NOW},v0=${v1}`),
			deliver('two-times', completed, paid, refused('forged'), (v1) => `t=${NOW},t=${NOW},v1=${v1}`),
			deliver('no-time', completed, paid, refused('unsigned'), (v1) => `v1=${v1}`),
			deliver('time-is-no-number', completed, paid, refused('forged'),
				(v1, body) => `t=x${NOW},v1=${hmac('sha256', secret, `x${NOW}.${body}`, 'hex')}`),
			deliver('stale', completed, paid, refused('stale'),
				(v1, body) => `t=${NOW - 301},v1=${hmac('sha256', secret, `${NOW - 301}.${body}`, 'hex')}`),
			deliver('from-the-future', completed, paid, refused('stale'),
				(v1, body) => `t=${NOW + 301},v1=${hmac('sha256', secret, `${NOW + 301}.${body}`, 'hex')}`),
			{
				name: 'not-json', body: 'paid!', verdict: 'malformed',
				headers: { 'stripe-signature': `t=${NOW},v1=${hmac('sha256', secret, `${NOW}.paid!`, 'hex')}` },
			},
			{
				name: 'a-key-twice', body: '{"id":"evt_1","type":"a","type":"b"}', verdict: 'malformed',
				headers: { 'stripe-signature': `t=${NOW},v1=${hmac('sha256', secret, `${NOW}.{"id":"evt_1","type":"a","type":"b"}`, 'hex')}` },
			},
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ text }) => ({ display_name: 'Stripe', secrets: [`whsec_${text()}`] });

export const sender = {
	event: (id, what, { amount, currency, tax, reference = `cs_test_${id}`, ...more } = PAID) => ({
		id: `evt_${randomUUID()}`,
		object: 'event',
		livemode: true,
		type: {
			paid: 'checkout.session.completed', processing: 'checkout.session.completed',
			failed: 'checkout.session.async_payment_failed', expired: 'checkout.session.expired',
			settled: 'checkout.session.async_payment_succeeded', attempt_failed: 'payment_intent.payment_failed', ignored: 'charge.updated', refunded: 'refund.created',
			withdrawn: 'charge.dispute.funds_withdrawn', reinstated: 'charge.dispute.funds_reinstated',
		}[what],
		data: {
			object: what === 'refunded' ? {
				id: `re_${randomUUID()}`, object: 'refund', status: 'succeeded', payment_intent: reference, amount, currency: currency.toLowerCase(),
			} : ['withdrawn', 'reinstated'].includes(what) ? {
				id: `dp_${reference}`, object: 'dispute', status: 'under_review', payment_intent: reference, amount, currency: currency.toLowerCase(),
			} : {
				id: reference, object: 'checkout.session', client_reference_id: id,
				payment_status: what === 'paid' ? 'paid' : 'unpaid', amount_total: amount ?? null,
				currency: currency?.toLowerCase() ?? null, ...tax !== undefined && { total_details: { amount_tax: tax } },
			},
		},
		...more,
	}),
	sign: async (body, { secret, timestamp }) => {
		const { default: Stripe } = await import('stripe');
		return { 'Stripe-Signature': new Stripe('sk_test').webhooks.generateTestHeaderString({ payload: body, secret, timestamp }) };
	},
};
