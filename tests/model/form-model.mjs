// What a form is meant to do, in memory: one row of kind input or approval. The
// test does each step to this and to the real thing, and compares.

export const TTL = 300_000;
export const CHECK = 30_000;
const DAY = 86_400_000;
const TRIES = 5;
const UNCHECKED = 10;

export class FormModel {
	/** @param {{ kind: string, verify: boolean, approvers: string[] | null, subject: string }} wanted approvers: [] is anyone but the subject */
	constructor(wanted) {
		Object.assign(this, wanted, {
			now: 0, status: 'pending', action: null, reason: '', problems: 0, checks: 0, taken: 0, checkUntil: null, unchecked: false,
			hasForm: true, hasTyped: false, hasProblem: false, hasValue: false, decidedBy: null, claimed: false, isOver: false,
		});
	}

	#end(action, reason) {
		Object.assign(this, {
			status: 'completed', action, reason, completedAt: this.now, checkUntil: null, unchecked: false, hasForm: false, hasTyped: false, hasProblem: false,
		});
	}

	/** A value that was not checked leaves nothing, and the form opened, but not for ever. */
	#giveBack() {
		Object.assign(this, { hasValue: false, checkUntil: null, unchecked: true, hasProblem: false });
		if (this.checks - this.problems >= UNCHECKED) this.#end('cancel', 'not_checked');
		else this.status = 'opened';
	}

	/** Whoever looks ends a check that took too long. */
	#look() {
		if (this.status === 'processing' && this.now >= this.checkUntil) this.#giveBack();
	}

	get effectiveStatus() {
		return this.status === 'processing' && this.now >= this.checkUntil ? 'opened' : this.status;
	}

	#refuse(user) {
		if (!this.approvers) return user && user !== this.subject ? 'wrong_user' : undefined;
		if (!user) return 'user_unknown';
		if (this.approvers.length === 0) return user === this.subject ? 'own_request' : undefined;
		return this.approvers.includes(user) ? undefined : 'wrong_user';
	}

	#outcome(user) {
		return this.#refuse(user) ?? (this.status === 'completed' ? 'completed' : this.now >= this.expires ? 'expired' : this.effectiveStatus);
	}

	open(user) {
		this.#look();
		if (user && this.#outcome(user) === 'pending') this.status = 'opened';
		return this.#outcome(user);
	}

	answer(user, action, reason) {
		this.#look();
		const outcome = this.#outcome(user);
		if (outcome === 'completed') return 'already';
		if (outcome !== 'pending' && outcome !== 'opened') return outcome;
		Object.assign(this, { hasProblem: false, unchecked: false, hasValue: action === 'accept' || this.kind === 'approval' });
		if (this.verify && action === 'accept') {
			Object.assign(this, { status: 'processing', checks: this.checks + 1, checkUntil: this.now + CHECK, hasTyped: true });
			return 'processing';
		}
		if (this.kind === 'approval') this.decidedBy = user ?? this.subject;
		this.#end(action, reason);
		return 'completed';
	}

	/** @returns the lease of the one that takes the value */
	take() {
		if (this.status !== 'processing' || this.now >= Math.min(this.checkUntil, this.expires) || this.taken === this.checks) return undefined;
		this.taken = this.checks;
		return this.checks;
	}

	end(lease, how) {
		const isCurrent = this.status === 'processing' && this.now < Math.min(this.checkUntil, this.expires);
		if (!isCurrent || lease !== this.checks || lease !== this.taken) return 'late';
		if (how === 'good') {
			this.#end('accept', '');
			return 'completed';
		}
		if (how === 'failed') {
			this.#giveBack();
		} else {
			Object.assign(this, { problems: this.problems + 1, hasValue: false, checkUntil: null, unchecked: false });
			if (this.problems >= TRIES) this.#end('cancel', 'refused_input');
			else Object.assign(this, { status: 'opened', hasProblem: true });
		}
		return this.status === 'completed' ? 'refused' : 'opened';
	}

	expire() {
		if (this.status === 'completed' || this.now < this.expires) return;
		this.#end('cancel', 'expired');
		Object.assign(this, { hasValue: false, isOver: true });
	}

	purge() {
		this.#look();
		this.expire();
	}

	cancel() {
		if (this.status === 'completed') return false;
		this.#end('cancel', 'cancelled');
		this.hasValue = false;
		return true;
	}

	claim(action) {
		if (this.status !== 'completed' || this.claimed || this.action !== action) return false;
		this.claimed = true;
		return true;
	}

	/** Whether a later call for the same thing goes on with it. */
	get isResumed() {
		if (this.isOver) return false;
		if (this.effectiveStatus !== 'completed') return this.now < this.expires;
		if (this.claimed) return false;
		if (this.action !== 'accept') return this.now < this.expires || this.decidedBy !== null;
		return this.kind !== 'input' || this.now < this.completedAt + DAY;
	}

	/** Whether its result must be there; undefined: it may be. */
	get isKept() {
		if (this.status !== 'completed' || !this.hasValue) return this.hasValue;
		if (this.claimed) return this.kind === 'input' ? false : undefined;
		if (this.kind === 'input') return this.now < this.completedAt + DAY ? true : undefined;
		return this.now < this.completedAt + 30 * DAY ? true : undefined;
	}
}
