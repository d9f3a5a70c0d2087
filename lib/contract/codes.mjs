// SPDX-License-Identifier: MIT
// From codes.json: the errors of the packages, the refusals of the programs, the errors of the api, and their tables in PROTOCOL.md.

import { camel, filled, goLocal, head, jsDoc, jsParameters, pyDoc, pyText, snake, wrapped } from './languages.mjs';

/**
 * @typedef {object} ErrorOf one error of the packages
 * @property {string} code
 * @property {string} [class] its name in JavaScript and Python, if they have a class for it
 * @property {string} go its name in Go
 * @property {boolean} [byHand] the classes are written by hand
 * @property {string[]} [takes] the values of its message
 * @property {string} [message]
 * @property {string} meaning
 * @property {Record<string, string>} [keeps] what of these the error keeps, and what that is
 */

const made = (errors) => errors.filter((error) => error.class && !error.byHand);

/** @type {(error: ErrorOf) => string} */
const jsClass = ({ code, class: name, takes, message, meaning, keeps = {} }) => `
${jsDoc(meaning)}export class ${name} extends UrlModeError {
${jsParameters(takes, '\t')}	constructor(${takes.map(camel).join(', ')}) {
		super('${code}', ${message === `{${takes[0]}}` ? takes[0] : filled.js(message)});
${Object.entries(keeps).map(([field, what]) => `${what && jsDoc(what, '\t\t')}		this.${field} = ${field};\n`).join('')}	}
}
`;

function javascript({ errors, reasons }) {
	const words = [...new Set(reasons.flatMap((row) => row.reasons))].sort();
	return `${head.js}
import { UrlModeError } from './error.js';

/** @typedef {'' | ${words.map((word) => `'${word}'`).join(' | ')}} KnownReason a reason that urlmode itself writes */
${made(errors).map(jsClass).join('')}`;
}

/** @type {(error: ErrorOf) => string} */
const pyClass = ({ code, class: name, takes, message, meaning, keeps = {} }) => `

class ${name}(UrlModeError):
${pyDoc(meaning, '    ')}
    code = "${code}"

    def __init__(self${takes.map((value) => `, ${snake(value)}: str`).join('')}) -> None:
        super().__init__${message === `{${takes[0]}}` ? `(${takes[0]})` : pyText(message, '        ', ['(', ')'])}
${Object.entries(keeps).map(([field, what]) => `        self.${field} = ${field}\n${what && pyDoc(what, '        ')}`).join('')}`;

const python = ({ errors }) => `${head.py}
from .error import UrlModeError
${made(errors).map((error) => pyClass({ ...error, takes: error.takes.map((name) => (name === 'id' ? 'elicitation_id' : name)),
	message: error.message.replace('{id}', '{elicitation_id}') })).join('')}`;

/** @type {(error: ErrorOf) => string} an error about an account is a struct of its own, which has only the text from here */
function goError({ code, go, takes, message, meaning }) {
	const name = go.replace(/^Err/, '');
	const parameters = takes.length > 0 ? `${takes.map(goLocal).join(', ')} string` : '';
	if (takes.includes('provider')) {
		const used = takes.filter((value) => message.includes(`{${value}}`));
		return `\nfunc ${camel(name[0].toLowerCase() + name.slice(1))}Text(${used.map(goLocal).join(', ')} string) string {\n\treturn ${filled.go(message)}\n}\n`;
	}
	return `\nfunc error${name}(${parameters}) error {\n\treturn &Error{Code: ${go}, ${takes.includes('id') ? 'ElicitationID: id, ' : ''}reason: ${filled.go(message)}}\n}\n`;
}

const goFile = ({ errors }) => `${head.go}package urlmode

const (
${errors.map(({ code, go, meaning }) => `${wrapped(`${go}: ${meaning}`, '\t// ')}	${go} Code = "${code}"\n`).join('')})
${made(errors).map(goError).join('')}`;

const header = ({ refusals }) => `${head.h}#ifndef UM_CONTRACT_REFUSALS_H
#define UM_CONTRACT_REFUSALS_H

/*
 * name, HTTP status, reason code, the texts of its page (PAGE_TITLE and PAGE),
 * and the text of a response to a program.
 */
#define UM_REFUSALS(X) \\
${refusals.map(({ code, status, page, advice }) => `	X(${code.toUpperCase()}, ${status}, "${code}", ${page}, ${JSON.stringify(advice)})`).join(' \\\n')}

#endif
`;

const apiHeader = ({ api }) => `${head.h}#ifndef UM_CONTRACT_API_ERRORS_H
#define UM_CONTRACT_API_ERRORS_H

/* name, HTTP status, code, and the message unless a call has its own. */
#define UM_API_ERRORS(X) \\
${api.map(({ code, status, message }) => `	X(${code.toUpperCase()}, ${status}, "${code}", ${JSON.stringify(message)})`).join(' \\\n')}

#endif
`;

const coded = (words) => words.map((word) => `\`${word}\``).join(', ');

/** The tables of PROTOCOL.md, by the name of their place. */
export const tables = ({ reasons, refusals, api }) => ({
	reasons: `| action | reason | set by |\n|---|---|---|\n${reasons.map((row) => `| ${coded(row.actions)} | ${coded(row.reasons) || 'empty'}${row.other ?? ''} | ${row.setBy} |\n`).join('')}`,
	refusals: `| status | code | when | what to do |\n|---|---|---|---|\n${refusals.map((row) => `| ${row.status} | \`${row.code}\` | ${row.when} | ${row.do} |\n`).join('')}`,
	api_errors: `| status | code | when | what to do |\n|---|---|---|---|\n${api.map((row) => `| ${row.status} | \`${row.code}\` | ${row.when} | ${row.do} |\n`).join('')}`,
});

export const files = (codes) => ({
	'lib/node/src/core/contract-errors.js': javascript(codes),
	'lib/python/src/urlmode/_core/contract_errors.py': python(codes),
	'lib/go/contract_errors.go': goFile(codes),
	'lib/contract/refusals.h': header(codes),
	'lib/contract/api_errors.h': apiHeader(codes),
});
