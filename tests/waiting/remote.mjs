// What tests do with a UrlMode of the Node package, done by the driver of any SDK.

const IN_MILLISECONDS = { timeout: 'timeout_ms', lease: 'lease_ms', ttl: 'ttl_ms', verifyTimeout: 'verify_timeout_ms' };
const snake = (name) => IN_MILLISECONDS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name) => (name === 'interrupted' ? 'from' : name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
/** In some languages what is not there is the empty text. */
const IS_NOT_THERE = { from: '', reference: '', approver: '', comment: '' };

const given = (options) => Object.fromEntries(Object.entries(options).map(([name, value]) => [snake(name), value]));
const told = (object) => Object.fromEntries(Object.entries(object).map(([name, value]) => [camel(name), value])
	.filter(([name, value]) => value !== null && value !== IS_NOT_THERE[name]));

/** The names of the Node package's errors. */
const ERRORS = {
	ELICITATION_TIMEOUT: 'ElicitationTimeoutError', ELICITATION_MISMATCH: 'ElicitationMismatchError',
	ELICITATION_REFERENCE: 'ElicitationReferenceError', URLMODE_CLOSED: 'UrlModeClosedError',
};

export class Remote {
	/** @param {import('./side.mjs').Driver} driver */
	constructor(driver) {
		this.driver = driver;
	}

	async create(options) {
		const { url, checkout } = options.targetUrl ?? {};
		return told(await this.#ask('create', { ...options, ...checkout && { targetUrl: url, checkout } }));
	}

	/** `verify` is `{ field, value, problem }`: the only right value of a field, and what is wrong with another. */
	async waitForCompletion(id, { signal, recheck, timeout, ...options }) {
		let failure;
		const onRecheck = async (request) => {
			const answer = await recheck(told(request)).then((value) => ({ answer: value ? given(value) : null }), (error) => {
				failure = error;
				return { error: error.message };
			});
			this.driver.begin('answer', { wait: call.number, ...answer });
		};
		const call = this.driver.begin('wait', {
			elicitation_id: id, ...given(options), timeout_ms: timeout === Infinity ? null : timeout, ...recheck && { recheck: 'asks' },
		}, recheck && onRecheck);
		const stop = () => this.driver.begin('stop', { wait: call.number });
		signal?.addEventListener('abort', stop, { once: true });
		const { answer, error } = await call.end;
		signal?.removeEventListener('abort', stop);
		if (error?.code === 'STOPPED') throw signal.reason;
		if (error?.code === 'FAILED') throw failure;
		if (error) throw toError(error);
		return told(answer);
	}

	complete(id, options) {
		return this.#ask('complete', { elicitationId: id, ...options });
	}

	cancel(id, options) {
		return this.#ask('cancel', { elicitationId: id, ...options });
	}

	claim(id, options) {
		return this.#ask('claim', { elicitationId: id, ...options });
	}

	async beginClaim(id, options) {
		const call = this.driver.begin('begin_claim', { elicitation_id: id, ...given(options) });
		const { answer, error } = await call.end;
		if (error) throw toError(error);
		const { state, reference, result } = told(answer);
		const go = (verb, more) => this.#ask(verb, { claim: call.number, ...more });
		return {
			state, reference, confirm: () => go('confirm'), release: () => go('release'), end: (how, refund) => go('end', { how, refund }),
			...state === 'fulfilled' ? { result } : { fulfil: (done) => go('fulfil', { result: done }) },
		};
	}

	async unclaimed() {
		return (await this.#ask('unclaimed', {})).map(told);
	}

	/** Has the driver report late payments. */
	reportLate() {
		return this.#ask('late', {});
	}

	async close() {
		await this.#ask('close', {});
		await this.driver.end();
	}

	async #ask(verb, options) {
		const { answer, error } = await this.driver.begin(verb, given(options)).end;
		if (error) throw toError(error);
		return answer;
	}
}

function toError({ code, status, message }) {
	return Object.assign(new Error(message ?? code), { name: ERRORS[code] ?? code, code, status });
}
