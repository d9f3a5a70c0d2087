// What a page of kind input or approval asks: checked here, with an error that
// names the place of each mistake, and again by the callback programs.

import { readFileSync } from 'node:fs';

import { checkText } from './arguments.js';
import { APPROVERS_MAX, SUBJECT_MAX } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { FORM_FORMATS, FORMATS, lengthOf } from './formats.js';
import { Schema } from './schema.js';
import { shippedFile } from './shipped.js';

const DOCUMENT = JSON.parse(readFileSync(shippedFile('contract/form.schema.json'), 'utf8'));
const SCHEMA = new Schema(DOCUMENT, FORM_FORMATS);

/** @typedef {Record<string, import('./schema.js').Json>} Members */

/**
 * @param {import('./contract-words.js').FormKind} kind
 * @param {unknown} value
 * @param {{ submit_label?: unknown, step_up?: true }} [more] members of it that are options of their own
 * @returns {Members} the form without members that say nothing: calls that ask for the same have the same form
 * @throws {TypeError} that begins with the JSON pointer of the mistake: `form/fields/0/label must …`
 */
export function checkForm(kind, value, more = {}) {
	const form = plain(value && typeof value === 'object' && !Array.isArray(value) ? { ...value, ...more } : value);
	const { pointer, must } = SCHEMA.faultsOf(kind, form)[0] ?? faultInFields(form.fields ?? []) ?? {};
	if (must) throw new TypeError(`form${pointer} ${must}`);
	if (form.facts?.length === 0) delete form.facts;
	for (const field of form.fields ?? []) if (!field.required) delete field.required;
	const bytes = Buffer.byteLength(JSON.stringify(form));
	if (bytes > DOCUMENT.maxBytes) throw new TypeError(TEXTS.formTooLarge(DOCUMENT.maxBytes, bytes));
	return form;
}

/**
 * As JSON has it: without members that are undefined.
 *
 * @param {unknown} value
 */
function plain(value) {
	return JSON.parse(JSON.stringify(value) ?? 'null');
}

/**
 * Where the members of a field do not fit together.
 *
 * @param {Members[]} fields each as the schema says
 */
function faultInFields(fields) {
	for (const [index, field] of fields.entries()) {
		const [name, must] = ('choices' in field ? faultInChoice(field) : field.type === 'number' ? faultInNumber(field) : faultInText(field)) ?? [];
		if (must) return { pointer: `/fields/${index}/${name}`, must };
	}
	return undefined;
}

/**
 * @param {Members} field
 * @returns {[string, string] | undefined} the member, and what it must be
 */
function faultInChoice({ choices, default: given }) {
	const isOne = given === undefined || choices.some((/** @type {Members} */ { value }) => value === given);
	return isOne ? undefined : ['default', TEXTS.mustBeChoice];
}

/**
 * @param {Members} field
 * @returns {[string, string] | undefined}
 */
function faultInNumber({ min = -Infinity, max = Infinity, default: given }) {
	if (min > max) return ['max', TEXTS.maxBelowMin];
	return given < min || given > max ? ['default', TEXTS.mustBeInRange] : undefined;
}

/**
 * @param {Members} field
 * @returns {[string, string] | undefined}
 */
function faultInText({ type, multiline, min = 0, max, format, default: given }) {
	const { maximum, default: usual } = SCHEMA.get(type)?.properties.max ?? {};
	const most = max ?? (multiline ? maximum : usual);
	if (min > most) return ['max', TEXTS.usualMaxBelowMin(most)];
	if (multiline && format) return ['format', TEXTS.notForLines];
	if (typeof given !== 'string') return undefined;
	const length = lengthOf(given);
	if (length < min || length > most) return ['default', TEXTS.mustHaveLength(min, most)];
	return format && !FORMATS.get(format)?.test(given) ? ['default', TEXTS.mustHaveFormat(format)] : undefined;
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
	if (new Set(value).size < value.length) throw new TypeError(TEXTS.approverTwice);
	return value.map((subject) => checkText('each approver', subject, 1, SUBJECT_MAX));
}

/**
 * What `verify` has returned about the values.
 *
 * @param {unknown} value
 * @returns {import('./form-types.js').Problem | undefined}
 */
export function checkProblem(value) {
	if (value === undefined || value === null) return undefined;
	const problem = plain(value);
	const { maxBytes } = SCHEMA.get('problem');
	const [fault] = SCHEMA.faultsOf('problem', problem);
	const isLong = !fault && Buffer.byteLength(JSON.stringify(problem)) > maxBytes;
	// The message has no value of the user.
	const mistake = fault ? `${/^(\/(field|problem))*/.exec(fault.pointer)?.[0]} ${fault.must}` : isLong ? `/problem must have at most ${maxBytes} bytes as JSON` : '';
	if (mistake) throw new TypeError(`verify must return nothing or { field, problem }: ${mistake}`);
	return problem;
}
