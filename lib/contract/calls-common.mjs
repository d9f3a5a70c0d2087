// SPDX-License-Identifier: MIT
// What the calls of all languages have in common.

/**
 * @typedef {object} Value a parameter, an element of an array, a column, or what a function returns
 * @property {string} sql its name in SQL
 * @property {string} name in the singular, if it is an element of an array
 * @property {string} type of SQL, without []
 * @property {boolean} isArray whether the function takes an array of it, one element for each row
 * @property {boolean} isList whether each is an array
 * @property {'null' | 'unknown' | 'sometimes' | undefined} missing when it can be NULL, see calls.json
 * @property {string | string[] | undefined} words its words, or the name of their type
 * @property {string | undefined} says
 * @property {boolean} isSeconds whether Node reads it as Unix seconds with their fraction
 * @property {boolean} isNamed of a parameter: one before it is not sent
 *
 * @typedef {object} Call
 * @property {string} name
 * @property {Record<'js' | 'py' | 'go', string[]>} rooms
 * @property {Value[]} parameters
 * @property {boolean} isBatch whether it takes arrays
 * @property {string} [takes] the name of an element of these arrays
 * @property {Value[]} columns of its rows; none if it returns a value, or nothing
 * @property {string} [gives] the name of its rows, if they have more than one column
 * @property {'rows' | 'row' | 'row or none' | 'value' | 'nothing'} answer
 * @property {Value | undefined} value
 * @property {boolean} reads whether it only reads: it can be sent once more if its connection was lost before the answer came
 * @property {boolean} isPartly whether rows are made that have only some of their columns
 */

/** @param {Value} value */
export const mayBeNull = ({ missing }) => missing === 'null' || missing === 'unknown';

/** What is an element of the arrays, and what is one value for all. @param {Call} call */
export const partsOf = ({ parameters }) => ({ members: parameters.filter(({ isArray }) => isArray), single: parameters.filter(({ isArray }) => !isArray) });

/**
 * The statement of a call.
 *
 * @param {Call} call
 * @param {(value: Value, number: number) => string} parameter as a language writes it
 * @param {(column: Value) => string} column
 */
export function statement({ name, parameters, columns, value }, parameter, column) {
	const called = `urlmode.${name}(${parameters.map((each, i) => `${each.isNamed ? `${each.sql} => ` : ''}${parameter(each, i + 1)}`).join(', ')})`;
	if (columns.length > 0) return `SELECT ${columns.map(column).join(', ')} FROM ${called}`;
	return `SELECT ${value ? column({ ...value, sql: called }) : called}`;
}
