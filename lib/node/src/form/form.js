// What a page of kind input or approval asks: checked here, with an error that
// names the place of each mistake, and again by the callback programs.

import { checkText } from '../input.js';
import { checkField, HELP_MAX, NAME } from './field.js';
import { checkLanguage, checkList, checkMembers, checkWords, wrong } from './words.js';

/** The largest form as JSON, in bytes. */
export const FORM_MAX = 16_384;
/** The largest problem as JSON, in bytes. */
const PROBLEM_MAX = 8_192;
const TITLE_MAX = 120;
const TEXT_MAX = 2_000;
const FIELDS_MAX = 16;
const FACTS_MAX = 20;
const FACT_LABEL_MAX = 120;
const FACT_VALUE_MAX = 500;
const APPROVERS_MAX = 16;

const MEMBERS = {
	input: ['language', 'title', 'text', 'fields', 'facts'],
	approval: ['language', 'title', 'text', 'facts', 'comment'],
};

/**
 * @param {'input' | 'approval'} kind
 * @param {unknown} value
 * @returns {Record<string, unknown>} the form without members that say nothing: calls that ask for the same have the same form
 * @throws {TypeError} that begins with the JSON pointer of the mistake: `form/fields/0/label must …`
 */
export function checkForm(kind, value) {
	const form = checkMembers(value, '', MEMBERS[kind]);
	const { language, text, facts, comment } = form;
	const checked = {
		...language !== undefined && { language: checkLanguage(language, '/language') },
		title: checkWords(form.title, '/title', TITLE_MAX),
		...text !== undefined && { text: checkWords(text, '/text', TEXT_MAX, { lines: true }) },
		...kind === 'input' && { fields: checkFields(form.fields) },
		...facts !== undefined && checkFacts(facts),
		...comment !== undefined && { comment: checkComment(comment) },
	};
	const bytes = Buffer.byteLength(JSON.stringify(checked));
	if (bytes > FORM_MAX) throw wrong('', `must have at most ${FORM_MAX} bytes as JSON, and has ${bytes}`);
	return checked;
}

/** @param {unknown} value an empty list is the same as none */
function checkFacts(value) {
	const facts = checkList(value, '/facts', 0, FACTS_MAX, checkFact);
	return facts.length > 0 && { facts };
}

/** @param {unknown} value */
function checkFields(value) {
	/** @type {Set<unknown>} */
	const names = new Set();
	return checkList(value, '/fields', 1, FIELDS_MAX, (element, pointer) => {
		const field = checkField(element, pointer);
		if (names.has(field.name)) throw wrong(`${pointer}/name`, 'must not occur twice');
		names.add(field.name);
		return field;
	});
}

/**
 * @param {unknown} value
 * @param {string} pointer
 */
function checkFact(value, pointer) {
	const fact = checkMembers(value, pointer, ['label', 'value']);
	return {
		label: checkWords(fact.label, `${pointer}/label`, FACT_LABEL_MAX),
		value: checkWords(fact.value, `${pointer}/value`, FACT_VALUE_MAX, { lines: true }),
	};
}

/** @param {unknown} value */
function checkComment(value) {
	if (value !== 'optional' && value !== 'required') throw wrong('/comment', 'must be optional or required');
	return value;
}

/**
 * @param {unknown} value
 * @returns {string[] | null} null: the starter; empty: anyone else
 */
export function checkApprover(value = 'starter') {
	if (value === 'starter') return null;
	if (value === 'others') return [];
	if (!Array.isArray(value) || value.length === 0 || value.length > APPROVERS_MAX) {
		throw new TypeError(`approver must be starter, others, or an array of 1 to ${APPROVERS_MAX} subjects`);
	}
	if (new Set(value).size < value.length) throw new TypeError('approver must not have a subject twice');
	return value.map((subject) => checkText('each approver', subject, 1, 512));
}

/**
 * What `verify` has returned about the values.
 *
 * @param {unknown} value
 * @returns {import('./types.js').Problem | undefined}
 */
export function checkProblem(value) {
	if (value === undefined || value === null) return undefined;
	try {
		const { field, problem } = checkMembers(value, '', ['field', 'problem']);
		if (typeof field !== 'string' || !NAME.test(field)) throw wrong('/field', 'must be the name of a field');
		const checked = { field, problem: checkWords(problem, '/problem', HELP_MAX) };
		if (Buffer.byteLength(JSON.stringify(checked)) > PROBLEM_MAX) throw wrong('/problem', `must have at most ${PROBLEM_MAX} bytes as JSON`);
		return checked;
	} catch (error) {
		// Its message has no value of the user.
		throw new TypeError(`verify must return nothing or { field, problem }: ${/** @type {Error} */ (error).message.replace(/^form/, '')}`);
	}
}
