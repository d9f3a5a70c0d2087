// Histories of subscriptions: lists of steps, as plain data, as in history.mjs. What a provider tells has a time of its own (`ago`, before it
// happens to be told), and comes in any order, twice, in batches, or from several connections at the same time.

import { Random } from './random.mjs';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Not so long that what is over is deleted: 400 days after its end. */
const LONGEST = 380 * DAY;

/** What users subscribe to: `match` says how the first price is compared. */
export const ITEMS = {
	pro: { expected: { amount: 1_000, currency: 'EUR' } },
	team: { expected: { amount: 1_000, currency: 'EUR', match: 'at-least' } },
	box: { expected: { match: 'checkout' }, hasCheckout: true },
};
/** At `shop` a payment names its subscription, and at `mart` a subscription names its first payment. */
export const PROVIDERS = ['shop', 'mart'];
export const USERS = ['ann', 'bob'];
export const PRICE = 1_000;

/** What a dispute can say, in the order of its provider's times. */
export const DISPUTE = [
	{ effect: 'disputed', kind: 'dispute', state: 'needs_response' }, { effect: 'refunded', kind: 'dispute', state: 'under_review' },
	{ effect: 'refund_reversed', kind: 'dispute_won', state: 'won' }, { effect: 'refunded', kind: 'dispute', state: 'appealed' },
	{ effect: 'refunded', kind: 'dispute_lost', state: 'lost' },
];

const WEIGHTS = { ask: 12, open: 4, first: 14, renewal: 14, is: 24, back: 8, dispute: 4, batch: 6, crowd: 3, again: 8, later: 10, purge: 3, cancel: 2, settle: 2, sendBack: 3, month: 4, twoOfOne: 1, facts: 6, renewals: 2, olderLink: 2, inPart: 1, thereAndBack: 2 };

/**
 * @param {number} seed
 * @returns {object[]} steps
 */
export function makeHistory(seed) {
	const random = new Random(seed);
	const steps = [];
	let asked = 0;
	let events = 0;
	let passed = 0;
	const label = () => `c${asked += 1}`;
	/** One of the calls, mostly one of the last; the second subscription of it seldom. */
	const recent = () => `c${Math.max(1, asked - Math.floor(random.number() ** 2 * asked))}`;
	const which = () => ({ of: recent(), ...random.chance(0.05) && { second: true } });
	const tell = (event) => ({ do: 'tell', events: [{ event: `e${events += 1}`, ago: random.pick([0, 0, 1, 2, 5, 20, 33]) * DAY, ...event }] });
	/** Whether the event names the elicitation. */
	const named = () => ({ ...random.chance(0.15) && { unnamed: true } });
	const is = {
		status: () => ({ status: random.weighted({ active: 8, trialing: 2, past_due: 3, paused: 2, cancelled: 2, ended: 2 }), ...random.chance(0.8) && { until: random.pick([-3, 4, 25, 31]) * DAY } }),
		until: () => ({ until: random.pick([4, 25, 31, 60]) * DAY }),
		trial: () => ({ trialUntil: random.pick([null, 4, 14]) && random.pick([4, 14]) * DAY }),
		cancel: () => ({ cancelAt: random.chance(0.3) ? null : random.pick([-1, 4, 25]) * DAY }),
		paused: () => ({ paused: random.chance(0.5) }),
	};
	const back = (of, more) => ({ kind: 'refund', ...of, payment: random.pick([1, 1, 2, 2, 3]), refund: random.pick([1, 2]), ...named(), ...more });
	let last;

	const makers = {
		ask() {
			if (!last || random.chance(0.5)) last = { user: random.pick(USERS), item: random.weighted({ pro: 5, team: 2, box: 2 }), provider: random.weighted({ shop: 3, mart: 2 }) };
			return { do: 'ask', call: label(), ...last };
		},
		open: () => ({ do: 'open', of: recent() }),
		/** Of another amount, of no subscription, or of a checkout that is not paid as a whole, now and then. */
		first: () => tell({
			kind: 'first', ...which(), ...random.chance(0.12) && { amount: random.pick([400, 1_300]) }, ...random.chance(0.1) && { plain: true }, ...random.chance(0.1) && { inPart: true },
		}),
		renewal: () => tell({ kind: 'renewal', ...which(), payment: random.pick([2, 3, 4]), ...named() }),
		is: () => tell({ kind: 'is', ...which(), ...named(), ...is[random.weighted({ status: 10, until: 2, trial: 1, cancel: 3, paused: 2 })]() }),
		back: () => tell(back(which(), random.chance(0.25) && { reversed: true })),
		/** Some of what a dispute says, in any order. */
		dispute() {
			const of = which();
			const payment = random.pick([1, 2]);
			const phases = DISPUTE.map((phase, n) => n).slice(0, random.pick([2, 3, 4, 5])).filter(() => random.chance(0.8));
			return shuffled(phases).map((phase) => tell({ kind: 'dispute', ...of, payment, phase, ago: (20 - phase) * DAY, ...named() }));
		},
		batch: () => ({ do: 'tell', events: Array.from({ length: 3 }, () => makers[random.pick(['first', 'renewal', 'is', 'back'])]().events[0]) }),
		/** The same, told at the same time: each names its elicitation, so that the order does not matter. */
		crowd: () => ({
			do: 'crowd', events: Array.from({ length: 5 }, () => ({
				...makers[random.pick(['first', 'renewal', 'is', 'is', 'back'])]().events[0], unnamed: false, amount: undefined, plain: false, inPart: false,
			})),
		}),
		again: () => ({ do: 'tell', events: [{ again: `e${Math.max(1, Math.ceil(random.number() * events))}` }] }),
		later() {
			const ms = random.pick([HOUR, DAY, 2 * DAY, 4 * DAY, 31 * DAY]);
			if (passed + ms > LONGEST) return [];
			passed += ms;
			return { do: 'later', ms };
		},
		/** The elicitations that are over, and what is nobody's, are deleted. */
		purge() {
			const ms = random.pick([2, 40, 75]) * DAY;
			if (passed + ms > LONGEST) return [];
			passed += ms;
			return { do: 'purge', ms, keep: random.pick([7, 30]) * DAY };
		},
		cancel: () => ({ do: 'cancel', of: recent() }),
		settle: () => ({ do: 'settle', ...which() }),
		sendBack: () => ({ do: 'sendBack', ...which(), payment: 1 }),
		/** A user subscribes and pays, and it is renewed, as it should be. */
		month() {
			const of = label();
			last = { user: random.pick(USERS), item: random.pick(['pro', 'team', 'box']), provider: random.pick(PROVIDERS) };
			return [
				{ do: 'ask', call: of, ...last }, tell({ kind: 'first', of, ago: 0 }), tell({ kind: 'is', of, ago: 0, status: 'active', until: 31 * DAY }),
				...makers.later() ? [{ do: 'later', ms: HOUR }] : [], tell({ kind: 'renewal', of, payment: 2, ago: 0 }), tell({ kind: 'is', of, ago: 0, status: 'active', until: 60 * DAY }),
			];
		},
		/** One fact is told several times, with other times and values, in any order. */
		facts() {
			const [of, kind] = [recent(), random.weighted({ status: 2, until: 1, cancel: 1, paused: 2 })];
			return shuffled([1, 5, 5, 20].map((days) => tell({ kind: 'is', of, ago: days * DAY, ...is[kind]() })));
		},
		/** Later renewals have earlier names, and one of them goes back. */
		renewals() {
			const month = makers.month();
			const [{ call: of }] = month;
			return [...month, tell({ kind: 'renewal', of, payment: 4, ago: 20 * DAY }), tell({ kind: 'renewal', of, payment: 3, ago: 2 * DAY }),
				tell({ kind: 'refund', of, payment: random.pick([3, 4]), refund: 1 })];
		},
		/** A part of a checkout is paid, and perhaps all of it later. */
		inPart() {
			const of = label();
			return [
				{ do: 'ask', call: of, user: random.pick(USERS), item: 'box', provider: random.pick(PROVIDERS) }, tell({ kind: 'first', of, inPart: true }),
				...random.chance(0.5) ? [tell({ kind: 'first', of })] : [],
			];
		},
		/** One refund of a first payment goes there and back, and is told in any order. */
		thereAndBack() {
			const month = makers.month();
			const [{ call: of }] = month;
			return [...month.slice(0, 3), ...shuffled([1, 5, 20].map((days) => tell({ kind: 'refund', of, payment: 1, refund: 1, ago: days * DAY, ...random.chance(0.5) && { reversed: true } })))];
		},
		/** Two links for the same, of two providers, one of which is paid. */
		olderLink() {
			const [user, item, one, other] = [random.pick(USERS), random.pick(['pro', 'team']), label(), label()];
			return [
				{ do: 'ask', call: one, user, item, provider: 'shop' }, { do: 'ask', call: other, user, item, provider: 'mart' }, tell({ kind: 'first', of: one }),
				...random.chance(0.3) ? [tell({ kind: 'is', of: one, ago: 0, status: random.pick(['paused', 'past_due']) })] : [], { do: 'open', of: other },
			];
		},
		/** The same checkout is paid twice, for two subscriptions. */
		twoOfOne() {
			const of = label();
			return [
				{ do: 'ask', call: of, user: random.pick(USERS), item: 'box', provider: random.pick(PROVIDERS) },
				...shuffled([tell({ kind: 'first', of, second: true }), tell({ kind: 'is', of, second: true, status: 'active', until: 31 * DAY }), tell({ kind: 'first', of }),
					tell({ kind: 'is', of, status: 'past_due', until: 25 * DAY })]),
			];
		},
	};

	function shuffled(list) {
		return list.map((each) => [random.number(), each]).sort(([one], [other]) => one - other).map(([, each]) => each);
	}

	const length = 8 + Math.floor(random.number() * 24);
	while (steps.length < length) steps.push(...[makers[asked === 0 ? 'ask' : random.weighted(WEIGHTS)]()].flat());
	return steps;
}
