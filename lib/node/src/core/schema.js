// Checks values against the part of JSON Schema (2020-12) that is in lib/contract and in the `oauth` part of
// lib/providers/schema.json, and says where each mistake is. tests/vectors/schema-cases.json has cases for all languages.

import { TEXTS } from './contract-texts.js';
import { lengthOf } from './formats.js';

/**
 * @typedef {ReturnType<typeof JSON.parse>} Json
 * @typedef {{ [keyword: string]: Json }} Rules
 * @typedef {{ pointer: string, must: string }} Fault where it is (RFC 6901), and the rest of a sentence about it
 * @typedef {{ [name: string]: (value: Json) => string | undefined }} Formats each says what is wrong with a value
 */

/** @type {Record<string, [string, (value: any) => boolean]>} */
const TYPES = {
	string: ['a string', (value) => typeof value === 'string'],
	boolean: ['true or false', (value) => typeof value === 'boolean'],
	number: ['a number', (value) => typeof value === 'number'],
	integer: ['a whole number', Number.isInteger],
	array: ['an array', Array.isArray],
	object: ['an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
};

export class Schema {
	/** @type {Rules} */
	#root;
	/** @type {Formats} */
	#formats;

	/**
	 * @param {Rules} root
	 * @param {Formats} [formats]
	 */
	constructor(root, formats = {}) {
		this.#root = root;
		this.#formats = formats;
	}

	/**
	 * @param {string} name in `$defs`
	 * @param {unknown} value such as JSON has
	 */
	faultsOf(name, value) {
		return this.#faults(this.get(name), value);
	}

	/**
	 * @param {string} name in `$defs`
	 * @returns {Rules}
	 */
	get(name) {
		return this.#root.$defs[name];
	}

	/**
	 * @param {Rules} rules
	 * @param {unknown} value
	 * @param {string} [pointer]
	 * @returns {Fault[]}
	 */
	#faults(rules, value, pointer = '') {
		return [...this.#check(rules, value, pointer)];
	}

	/**
	 * @param {Rules} given
	 * @param {any} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#check(given, value, pointer) {
		const rules = this.#resolve(given);
		if (rules.discriminator) {
			yield* this.#checkSelected(rules, value, pointer);
			return;
		}
		if (rules.anyOf) yield* this.#checkAny(rules.anyOf, value, pointer);
		const choices = rules.enum ?? ('const' in rules ? [rules.const] : undefined);
		if (choices && !choices.includes(value)) yield fault(pointer, `must be ${choices.length > 1 ? 'one of ' : ''}${choices.map(quoted).join(', ')}`);
		const [article, is] = TYPES[rules.type] ?? [];
		if (is && !is(value)) {
			yield fault(pointer, `must be ${article}${rangeOf(rules)}`);
		} else if (typeof value === 'string') {
			yield* this.#checkString(rules, value, pointer);
		} else if (typeof value === 'number') {
			if (value < rules.minimum || value > rules.maximum) yield fault(pointer, `must be ${article}${rangeOf(rules)}`);
			else yield* this.#checkFormat(rules, value, pointer);
		} else if (Array.isArray(value)) {
			yield* this.#checkArray(rules, value, pointer);
		} else if (TYPES.object?.[1](value)) {
			yield* this.#checkMembers(rules, value, pointer);
		}
		yield* this.#checkConditions(rules, value, pointer);
	}

	/**
	 * @param {Rules} rules
	 * @returns {Rules}
	 */
	#resolve(rules) {
		return rules.$ref ? this.#resolve(this.get(rules.$ref.replace('#/$defs/', ''))) : rules;
	}

	/**
	 * One member selects the rules.
	 *
	 * @param {Rules} rules
	 * @param {any} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkSelected({ discriminator: { propertyName: name }, oneOf }, value, pointer) {
		if (!TYPES.object?.[1](value)) {
			yield fault(pointer, TEXTS.mustBeObject);
			return;
		}
		const all = oneOf.map((/** @type {Rules} */ one) => this.#resolve(one));
		const selected = all.find((/** @type {Rules} */ { properties }) => properties[name].const === value[name]);
		if (selected) yield* this.#check(selected, value, pointer);
		else yield fault(`${pointer}/${name}`, TEXTS.mustBeOneOf(all.map((/** @type {Rules} */ { properties }) => properties[name].const).join(', ')));
	}

	/**
	 * @param {Rules[]} branches
	 * @param {unknown} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkAny(branches, value, pointer) {
		const types = branches.map((branch) => TYPES[this.#resolve(branch).type]);
		const fitting = branches.filter((_, index) => types[index]?.[1](value) ?? true);
		const faults = fitting.map((branch) => this.#faults(branch, value, pointer));
		if (fitting.length === 0) yield fault(pointer, `must be ${types.map((type) => type?.[0]).join(' or ')}`);
		else if (faults.every(({ length }) => length > 0)) yield* faults[0] ?? [];
	}

	/**
	 * @param {Rules} rules
	 * @param {string} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkString(rules, value, pointer) {
		const { minLength = 0, maxLength = Infinity, maxBytes = Infinity, pattern } = rules;
		const length = lengthOf(value);
		if (length < minLength || length > maxLength) {
			yield fault(pointer, maxLength === Infinity ? TEXTS.mustNotBeEmpty : TEXTS.mustHaveCharacters(minLength, maxLength));
		} else if (Buffer.byteLength(value) > maxBytes) yield fault(pointer, TEXTS.mustHaveBytesAtMost(maxBytes));
		else if (pattern !== undefined && !new RegExp(pattern).test(value)) yield fault(pointer, `does not match: ${rules.description?.replace(/\.$/, '') ?? pattern}`);
		else yield* this.#checkFormat(rules, value, pointer);
	}

	/**
	 * @param {Rules} rules
	 * @param {unknown} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkFormat({ format }, value, pointer) {
		const must = this.#formats[format]?.(value);
		if (must) yield fault(pointer, must);
	}

	/**
	 * @param {Rules} rules
	 * @param {any[]} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkArray({ minItems = 0, maxItems = Infinity, items = {}, uniqueMember: name }, value, pointer) {
		if (value.length < minItems || value.length > maxItems) {
			yield fault(pointer, TEXTS.mustHaveElements(minItems, maxItems));
			return;
		}
		for (const [index, element] of value.entries()) yield* this.#check(items, element, `${pointer}/${index}`);
		if (name === undefined) return;
		const twice = value.findIndex((element, index) => value.findIndex((other) => other?.[name] === element?.[name]) < index);
		if (twice > 0) yield fault(`${pointer}/${twice}/${name}`, TEXTS.mustNotOccurTwice);
	}

	/**
	 * @param {Rules} rules
	 * @param {Rules} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkMembers(rules, value, pointer) {
		const { properties = {}, required = [], additionalProperties: others = true, propertyNames: names } = rules;
		const at = (/** @type {string} */ name) => `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
		const more = Object.keys(value).filter((name) => !Object.hasOwn(properties, name)).sort();
		const allowed = names ? this.#resolve(names).enum : Object.keys(properties);
		for (const name of more) {
			if (others !== false && !(names && this.#faults(names, name).length > 0)) continue;
			yield fault(at(name), allowed ? TEXTS.allowedHere(allowed.join(', ')) : 'is not allowed here');
		}
		if (Object.keys(value).length < rules.minProperties) yield fault(pointer, TEXTS.mustNotBeEmpty);
		for (const name of new Set([...Object.keys(properties), ...required])) {
			if (Object.hasOwn(value, name)) yield* this.#check(properties[name] ?? {}, value[name], at(name));
			else if (required.includes(name)) yield fault(at(name), 'is missing');
		}
		if (typeof others === 'object') for (const name of more) yield* this.#check(others, value[name], at(name));
	}

	/**
	 * What depends on other members, in descriptions alone.
	 *
	 * @param {Rules} rules
	 * @param {any} value
	 * @param {string} pointer
	 * @returns {Generator<Fault>}
	 */
	*#checkConditions(rules, value, pointer) {
		const isValid = (/** @type {Rules} */ one) => this.#faults(one, value).length === 0;
		if (rules.not && isValid(rules.not)) yield fault(pointer, 'is not allowed');
		if (rules.if) yield* this.#check((isValid(rules.if) ? rules.then : rules.else) ?? {}, value, pointer);
		if (!TYPES.object?.[1](value)) return;
		if (rules.oneOf && rules.oneOf.filter(isValid).length !== 1) {
			yield fault(pointer, `must have either ${rules.oneOf.map((/** @type {Rules} */ { required }) => required.join(' and ')).join(' or ')}`);
		}
		const depends = (/** @type {string} */ keyword) => Object.entries(rules[keyword] ?? {}).filter(([name]) => Object.hasOwn(value, name));
		for (const [, required] of depends('dependentRequired')) {
			for (const name of required) if (!Object.hasOwn(value, name)) yield fault(`${pointer}/${name}`, 'is missing');
		}
		for (const [, schema] of depends('dependentSchemas')) yield* this.#check(schema, value, pointer);
	}
}

/**
 * @param {string} pointer
 * @param {string} must
 * @returns {Fault}
 */
function fault(pointer, must) {
	return { pointer, must };
}

/** @param {Rules} rules of a number */
function rangeOf({ minimum, maximum }) {
	return minimum === undefined ? '' : ` from ${minimum} to ${maximum}`;
}

/** @param {unknown} choice */
function quoted(choice) {
	return /^[\w-]+$/.test(String(choice)) ? choice : JSON.stringify(choice);
}
