// Histories: lists of steps, as plain data. A step names calls, payments and
// events by labels; where a label is of a step that is not there, the runner
// does nothing. So any part of a history is one, too, and a long one that fails
// can be made short.

import { Random } from './random.mjs';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What users want of the tools. The name is the item, unless there is another: the same at another price. */
export const THINGS = {
	book: { kind: 'payment', expected: { amount: 1_000, currency: 'EUR' } },
	dearBook: { kind: 'payment', expected: { amount: 2_000, currency: 'EUR' }, item: 'book' },
	gift: { kind: 'payment', expected: 'any' },
	tip: { kind: 'payment', expected: { amount: 1_000, currency: 'EUR', match: 'at-least' } },
	order: { kind: 'payment', expected: { match: 'checkout' } },
	contract: { kind: 'signature' },
	account: { kind: 'oauth' },
};
export const USERS = ['ann', 'bob'];
/** What is bought or signed; an account has a resumeKey. */
export const itemOf = (thing) => (THINGS[thing].kind === 'oauth' ? undefined : THINGS[thing].item ?? thing);
/** Whether only a payment of its own checkout counts. */
export const hasCheckout = (thing) => THINGS[thing].expected?.match === 'checkout';
export const TTL = 5 * MINUTE;
/** Of the price of 1,000. */
const PART = 400;

/** What a dispute can say, in the order of its provider's times. Money may be reinstated without a win, and withdrawn again after each. */
export const DISPUTE = [
	{ effect: 'disputed', kind: 'dispute', state: 'needs_response' }, { effect: 'refunded', kind: 'dispute', state: 'under_review' },
	{ effect: 'refund_reversed', kind: 'dispute', state: 'reinstated' }, { effect: 'refunded', kind: 'dispute', state: 'withdrawn again' },
	{ effect: 'refund_reversed', kind: 'dispute_won', state: 'won' }, { effect: 'refunded', kind: 'dispute', state: 'appealed' },
	{ effect: 'disputed', kind: 'dispute_lost', state: 'lost' }, { effect: 'refunded', kind: 'dispute_lost', state: 'lost with its money' },
];
/** What each of two disputes of a payment takes. */
export const DISPUTED = { 1: 1_000, 2: 500 };

/** How often each step occurs, about. */
const WEIGHTS = {
	call: 18, open: 14, pay: 12, proof: 16, refund: 10, dispute: 4, decide: 4, batch: 4, again: 6, attempt: 6, event: 7, unproven: 8, answer: 10, end: 7, comeBack: 4,
	claim: 8, begin: 6, fulfil: 4, confirm: 4, release: 2, bothAct: 2, refundByHand: 4, cancel: 2, complete: 4, tooLate: 3, slowAnswer: 1,
	otherPrice: 2, totals: 2, ofNone: 2, ofTwo: 2, rest: 1, twoParts: 1, early: 1, afterPurge: 1, sharedAttempt: 2, overtaken: 1, later: 10, close: 2, die: 2, purge: 3, delete: 5, inPart: 2, free: 3, captured: 2,
};

/**
 * @param {number} seed
 * @returns {object[]} steps
 */
export function makeHistory(seed) {
	const random = new Random(seed);
	const steps = [];
	const made = { call: 0, payment: 0, event: 0 };
	const label = (kind) => `${kind[0]}${made[kind] += 1}`;
	/** One of those that there are, mostly one of the last. */
	const recent = (kind) => `${kind[0]}${Math.max(1, made[kind] - Math.floor(random.number() ** 2 * made[kind]))}`;
	/** Payments of which the rest may follow. */
	const parts = () => steps.filter((step) => step.do === 'pay' && step.amount === PART).map(({ payment }) => payment);
	let last = {};
	const proved = (payment, row) => [
		{ do: 'pay', payment, row, amount: 1_000, currency: 'EUR' }, { do: 'event', event: label('event'), effect: 'paid', payment },
	];

	const makers = {
		call() {
			if (!last.user || random.chance(0.4)) {
				last = { user: random.pick(USERS), thing: random.weighted({ book: 6, dearBook: 2, gift: 3, tip: 3, order: 4, contract: 1, account: 1 }) };
			}
			return {
				do: 'call', call: label('call'), at: random.pick([0, 1]), ...last,
				...random.chance(0.15) && { poll: true }, ...random.chance(0.1) && { exclusive: true },
			};
		},
		open: () => ({ do: 'open', row: recent('call') }),
		pay: () => ({
			do: 'pay', payment: label('payment'), row: recent('call'),
			...{
				right: { amount: 1_000, currency: 'EUR' }, dear: { amount: 2_000, currency: 'EUR' }, part: { amount: PART, currency: 'EUR' },
				nothing: { amount: 0, currency: 'EUR' }, other: { amount: 1_000, currency: 'USD' },
			}[random.weighted({ right: 8, dear: 2, part: 2, nothing: 1, other: 1 })],
		}),
		/** The provider's event that it was paid, perhaps about another elicitation, of another kind, without the amount, or more of it. */
		proof() {
			const payment = recent('payment');
			return {
				do: 'event', event: label('event'), effect: 'paid', payment,
				...random.chance(0.08) && { row: recent('call') }, ...random.chance(0.08) && { amount: 'missing' },
				...random.chance(parts().includes(payment) ? 0.6 : 0.05) && { amount: random.pick([700, 1_000]) },
				...random.chance(0.05) && { payment: undefined, row: recent('call') },
				...random.chance(0.06) && { otherKind: true },
				...random.chance(0.25) && { checkout: random.pick(['none', 'other']) }, ...random.chance(0.15) && { inPart: true },
			};
		},
		/** Some at the same time, as the webhook program records them. */
		batch: () => ({
			do: 'batch',
			events: Array.from({ length: 3 }, () => ({
				...makers[random.pick(['proof', 'proof', 'attempt', 'event', 'unproven'])](),
				...random.chance(0.3) && { row: recent('call') },
			})),
		}),
		again: () => random.pick(steps.filter((step) => step.do === 'event')),
		/** An attempt is under way, or has failed; most say which one. */
		attempt: () => ({
			do: 'event', event: label('event'), row: recent('call'), effect: random.pick(['attempt_failed', 'processing']),
			...random.chance(0.8) && { reference: random.pick(['card', 'bank']), ...random.chance(0.15) && { byPayment: true } },
		}),
		event: () => ({
			do: 'event', event: label('event'), row: recent('call'),
			...random.pick([
				{ effect: 'failed' }, { effect: 'expired' }, { effect: 'expired' }, { effect: 'cancelled' },
				{ effect: 'ignore' }, { effect: 'other_mode', payment: recent('payment') },
			]),
		}),
		/**
		 * What went back, or came again: the event names the payment, with the total or with a refund of its own, or only
		 * one of these, or neither; and sometimes not the elicitation, or another one.
		 */
		refund: () => ({
			do: 'event', event: label('event'), effect: random.chance(0.75) ? 'refunded' : 'refund_reversed', payment: recent('payment'),
			...random.pick([
				{}, { unnamed: true }, { refund: random.pick([1, 2]) }, { refund: random.pick([1, 2]) }, { refund: random.pick([2, 3]), unnamed: true },
			]),
			...random.chance(0.15) && { row: recent('call') },
			...random.chance(0.7) && { amount: random.pick([100, 500, 900, 1_000]) }, ...random.chance(0.2) && { byPayment: true },
		}),
		/** Some of what a dispute says, in any order and perhaps of the same time, while calls, the operator and time go on. */
		dispute() {
			const payment = recent('payment');
			const dispute = random.pick([1, 1, 2]);
			const phases = shuffled(DISPUTE.map((_, phase) => phase).filter(() => random.chance(0.6)));
			const accident = () => random.pick([
				{ do: 'decide', payment, decision: random.pick(['released', 'voided']) }, makers.claim(), makers.begin(), makers.fulfil(), makers.confirm(),
				makers.refundByHand(), { do: 'later', ms: 31 * DAY }, { do: 'event', event: label('event'), effect: 'paid', payment },
			]);
			return phases.flatMap((phase) => [
				{
					do: 'event', event: label('event'), effect: DISPUTE[phase].effect, payment, dispute, phase, at: random.chance(0.15) ? phase + 1 : phase,
					...random.chance(0.1) && { row: recent('call') }, ...random.chance(0.1) && { unnamed: true }, ...random.chance(0.2) && { byPayment: true },
				},
				...random.chance(0.2) ? [accident()] : [],
			]);
		},
		/** What went back comes again, and then the provider tells a total again, before or after a decision. */
		totals() {
			const payment = recent('payment');
			const of = (effect, amount) => ({ do: 'event', event: label('event'), effect, payment, amount });
			const decision = { do: 'decide', payment, decision: random.pick(['released', 'voided']) };
			return [
				of('refunded', random.pick([500, 1_000])), of('refund_reversed', random.pick([500, 1_000])),
				...random.chance(0.3) ? [decision] : [], of('refunded', random.pick([500, 1_000])), ...random.chance(0.5) ? [decision] : [],
			];
		},
		/** What was claimed goes back when its elicitation was deleted long ago. */
		afterPurge() {
			const [row, payment] = [label('call'), label('payment')];
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'book' }, ...proved(payment, row), { do: 'claim', call: row },
				{ do: 'later', ms: 40 * DAY }, { do: 'delete', keep: 7 * DAY },
				{ do: 'event', event: label('event'), effect: 'refunded', payment, ...random.chance(0.5) && { refund: 1 }, ...random.chance(0.5) && { byPayment: true } },
			];
		},
		/** Something goes back before its payment is proved, and names the payment alone. */
		early() {
			const [row, payment] = [label('call'), label('payment')];
			const [pay, paid] = proved(payment, row);
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'book' }, pay,
				{ do: 'event', event: label('event'), effect: 'refunded', payment, byPayment: true, ...random.chance(0.5) && { refund: 1, amount: 500 } }, paid,
			];
		},
		/** Two parts go back, and perhaps one of them comes again. */
		twoParts() {
			const [row, payment] = [label('call'), label('payment')];
			const part = (refund, effect, amount) => ({ do: 'event', event: label('event'), effect, payment, refund, amount });
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'book' }, ...proved(payment, row),
				part(1, 'refunded', 500), part(2, 'refunded', random.pick([400, 500])),
				...random.chance(0.5) ? [part(1, 'refund_reversed', random.pick([100, 500]))] : [],
			];
		},
		/** A part of a checkout is paid, and perhaps all of it later, or the server learns it. */
		inPart() {
			const [row, payment] = [label('call'), label('payment')];
			const [pay, paid] = proved(payment, row);
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'order' }, pay, { ...paid, inPart: true },
				...random.pick([[], [{ ...paid, event: label('event') }], [{ do: 'answer', row, how: 'truly' }]]),
			];
		},
		/** A checkout totals nothing, and then perhaps it is told under a name of its own, it has another payment, and something goes back. */
		free() {
			const [row, free, named, other] = [label('call'), label('payment'), label('payment'), label('payment')];
			const [pay, paid] = proved(free, row);
			const [payNamed, paidNamed] = proved(named, row);
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'order' }, { ...pay, amount: 0 }, paid,
				...random.chance(0.3) ? [{ do: 'begin', call: row }] : [],
				...random.chance(0.6) ? [{ ...payNamed, amount: random.pick([0, 1_000]), named: true }, paidNamed] : [], ...random.chance(0.4) ? proved(other, row) : [],
				...random.chance(0.5) ? [{ ...makers.refund(), payment: random.pick([free, named, other]) }] : [],
			];
		},
		/** What was authorised has named its checkout, and what is captured names its payment alone. */
		captured() {
			const [row, payment] = [label('call'), label('payment')];
			const [pay, paid] = proved(payment, row);
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'order' }, pay,
				{ do: 'event', event: label('event'), effect: 'processing', payment, ...random.pick([{}, {}, { checkout: 'other' }, { checkout: 'none' }]) }, { ...paid, checkout: 'none' },
			];
		},
		/** A part is captured, perhaps the operator takes it, and then the rest is captured. */
		rest() {
			const [row, payment] = [label('call'), label('payment')];
			const captured = (amount) => ({ do: 'event', event: label('event'), effect: 'paid', payment, amount });
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'book' }, { do: 'pay', payment, row, amount: PART, currency: 'EUR' },
				captured(PART), ...random.chance(0.5) ? [{ do: 'refundByHand', payment, delivers: random.chance(0.3) }] : [captured(700)], captured(1_000),
			];
		},
		/** Two payments of one elicitation, and something that goes back of one of them, perhaps again: nobody knows which. */
		ofNone() {
			const [row, one, other] = [label('call'), label('payment'), label('payment')];
			const back = () => ({
				do: 'event', event: label('event'), effect: 'refunded', payment: one, unnamed: true, ...random.chance(0.7) && { refund: random.pick([1, 2]) },
			});
			return [
				{ do: 'call', call: row, at: 0, user: random.pick(USERS), thing: 'book' }, ...[one, other].flatMap((payment) => proved(payment, row)), back(),
				...random.chance(0.5) ? [{ do: 'decide', payment: one, decision: 'released' }, back()] : [],
			];
		},
		/** Two elicitations are told of one refund, and then perhaps which payment it is of, and then perhaps of another one. */
		ofTwo() {
			const [one, other, paid, paidOther] = [label('call'), label('call'), label('payment'), label('payment')];
			const back = (more) => ({ do: 'event', event: label('event'), effect: 'refunded', payment: paid, refund: 1, amount: random.pick([500, 1_000]), ...more });
			// Under the reference of the one, or of the other, which may be proved only then.
			const named = (payment, row) => back({ row, payment, of: paid });
			const isLate = random.chance(0.3);
			return [
				{ do: 'call', call: one, at: 0, user: 'ann', thing: 'book' }, { do: 'call', call: other, at: 1, user: 'bob', thing: 'book' },
				...proved(paid, one), ...isLate ? [{ do: 'pay', payment: paidOther, row: other, amount: 1_000, currency: 'EUR' }] : proved(paidOther, other),
				...random.chance(0.6) ? [back({ row: one, unnamed: true }), back({ row: other, unnamed: true })] : [named(paidOther, one)],
				...isLate ? [{ do: 'event', event: label('event'), effect: 'paid', payment: paidOther }] : [],
				...random.chance(0.7) ? [named(paid, random.pick([one, other]))] : [], ...random.chance(0.5) ? [named(paidOther, one)] : [],
			];
		},
		/** The operator decides about what is held. */
		decide: () => ({ do: 'decide', payment: recent('payment'), decision: random.pick(['released', 'voided']) }),
		/** Of the provider, or of a stranger. */
		unproven: () => ({
			do: 'event', event: label('event'), effect: 'recheck', row: recent('call'),
			...random.chance(0.7) ? { payment: recent('payment') } : { reference: `junk${random.pick([1, 2, 3])}` },
		}),
		answer: () => ({ do: 'answer', row: recent('call'), how: random.weighted({ truly: 6, credulously: 1, nothing: 1, failing: 2 }) }),
		end: () => ({ do: 'end', call: recent('call') }),
		comeBack: () => ({ do: 'comeBack', row: recent('call'), action: random.pick(['accept', 'decline', 'decline']) }),
		claim: () => ({ do: 'claim', call: recent('call'), ...random.chance(0.3) && { blindly: true } }),
		begin: () => ({ do: 'begin', call: recent('call'), ...random.chance(0.3) && { blindly: true } }),
		fulfil: () => ({ do: 'fulfil', call: recent('call') }),
		confirm: () => ({ do: 'confirm', call: recent('call') }),
		release: () => ({ do: 'release', call: recent('call') }),
		refundByHand: () => ({ do: 'refundByHand', payment: random.pick([recent('payment'), ...parts()]), [random.weighted({ refunds: 5, delivers: 2, dies: 3 })]: true }),
		cancel: () => ({ do: 'cancel', row: recent('call') }),
		complete: () => ({ do: 'complete', row: recent('call'), payment: recent('payment') }),
		later: () => ({
			do: 'later',
			ms: random.pick([20 * SECOND, MINUTE, 4 * MINUTE, 6 * MINUTE, 11 * MINUTE, HOUR, 2 * DAY, 31 * DAY]),
		}),
		/** Nobody waits, the time passes, and only then the provider or the server knows of a payment. */
		tooLate() {
			const row = recent('call');
			const payment = label('payment');
			return [
				{ do: 'end', call: row }, { do: 'later', ms: random.pick([HOUR, 31 * DAY]) },
				{ do: 'pay', payment, row, amount: 1_000, currency: 'EUR' },
				random.chance(0.5) ? { do: 'complete', row, payment } : { do: 'event', event: label('event'), effect: 'paid', payment },
			];
		},
		/** A recheck outlives its lease, another instance begins one, and only then the first is answered. */
		slowAnswer() {
			last = { user: random.pick(USERS), thing: 'book' };
			const row = label('call');
			const ask = () => ({ do: 'event', event: label('event'), effect: 'recheck', row, reference: 'junk1' });
			return [
				{ do: 'call', call: row, at: 0, ...last }, { do: 'call', call: label('call'), at: 1, ...last }, ask(),
				{ do: 'later', ms: 2 * MINUTE }, { do: 'answer', row, how: random.pick(['nothing', 'failing']) }, ask(),
			];
		},
		/** Two calls are told of the same outcome, on two instances, and both act on it. */
		bothAct() {
			last = { user: random.pick(USERS), thing: random.weighted({ book: 3, contract: 1, account: 1 }) };
			const [one, other] = [label('call'), label('call')];
			const payment = label('payment');
			const accepted = {
				book: [{ do: 'pay', payment, row: one, amount: 1_000, currency: 'EUR' }, { do: 'event', event: label('event'), effect: 'paid', payment }],
				contract: [{ do: 'event', event: label('event'), effect: 'paid', row: one }],
				account: [{ do: 'comeBack', row: one, action: 'accept' }],
			}[last.thing];
			const ends = ['begin', 'fulfil', 'confirm'].flatMap((end) => [{ do: end, call: one }, { do: end, call: other }]);
			const accidents = [
				{ do: 'release', call: random.pick([one, other]) }, { do: 'die', at: random.pick([0, 1]) }, { do: 'later', ms: HOUR },
				{ do: 'claim', call: random.pick([one, other]) }, { do: 'purge', ms: 31 * DAY },
			];
			return [
				{ do: 'call', call: one, at: 0, ...last }, { do: 'call', call: other, at: 1, ...last }, ...accepted,
				...ends.flatMap((end) => [...random.chance(0.85) ? [end] : [], ...random.chance(0.2) ? [random.pick(accidents)] : []]),
				// The answer was lost.
				...random.chance(0.5) ? [{ do: 'confirm', call: one }] : [],
			];
		},
		/** The same at two prices: the first is superseded, and what is paid at one is paid. */
		otherPrice() {
			const [cheap, dear, payment, user] = [label('call'), label('call'), label('payment'), random.pick(USERS)];
			return [
				{ do: 'call', call: cheap, at: 0, user, thing: 'book' }, { do: 'call', call: dear, at: 1, user, thing: 'dearBook' },
				{ do: 'pay', payment, row: dear, amount: 2_000, currency: 'EUR' }, { do: 'event', event: label('event'), effect: 'paid', payment },
				{ do: 'open', row: cheap },
			];
		},
		/** A lease ends, another call begins, and only then the first one gives its claim back, or ends it. */
		overtaken() {
			const [one, other, payment, user] = [label('call'), label('call'), label('payment'), random.pick(USERS)];
			return [
				{ do: 'call', call: one, at: 0, user, thing: 'book' }, { do: 'call', call: other, at: 1, user, thing: 'book' },
				{ do: 'pay', payment, row: one, amount: 1_000, currency: 'EUR' }, { do: 'event', event: label('event'), effect: 'paid', payment },
				{ do: 'begin', call: one }, { do: 'later', ms: HOUR }, { do: 'begin', call: other }, { do: random.pick(['release', 'confirm']), call: one },
			];
		},
		/** Two elicitations were told of an attempt of the same name, or one in the same batch, and then an event names it alone. */
		sharedAttempt() {
			const reference = random.pick(['card', 'bank']);
			const of = (more) => ({ do: 'event', event: label('event'), effect: 'processing', reference, ...more });
			const events = [of({ row: recent('call') }), of({ row: recent('call') }), of({ row: recent('call'), effect: 'attempt_failed', byPayment: true })];
			return random.chance(0.3) ? { do: 'batch', events: events.slice(1) } : events;
		},
		close: () => ({ do: 'close', at: random.pick([0, 1]) }),
		die: () => ({ do: 'die', at: random.pick([0, 1]) }),
		delete: () => [{ do: 'later', ms: random.pick([2 * HOUR, 8 * DAY, 40 * DAY]) }, { do: 'delete', keep: random.pick([7, 30]) * DAY }],
		purge: () => ({ do: 'purge', ms: random.pick([0, 11 * MINUTE, 2 * DAY]) }),
	};

	function shuffled(list) {
		return list.map((each) => [random.number(), each]).sort(([one], [other]) => one - other).map(([, each]) => each);
	}

	const length = 6 + Math.floor(random.number() * 24);
	while (steps.length < length) {
		const step = makers[made.call === 0 ? 'call' : random.weighted(WEIGHTS)]();
		if (step) steps.push(...[step].flat());
	}
	return steps;
}
