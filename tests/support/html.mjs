// Reads the text, elements and forms of a page.

import { parse } from 'parse5';

const SILENT = new Set(['#comment', 'script', 'style', 'template']);
const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'code', 'em', 'i', 'small', 'span', 'strong', 'time']);

/**
 * A parsed page.
 *
 *     document.title                 text of <title>
 *     document.text                  the visible text, white space folded
 *     document.find('code')          [{ attributes, text }] in document order
 *     document.forms                 see formOf
 */
export class HtmlDocument {
	#root;

	constructor(html) {
		this.#root = parse(html);
	}

	get title() {
		return this.find('title')[0]?.text ?? '';
	}

	get text() {
		return textOf(elements(this.#root, 'body')[0] ?? this.#root);
	}

	find(tagName) {
		return elements(this.#root, tagName).map((element) => ({
			attributes: attributesOf(element),
			text: textOf(element),
		}));
	}

	get forms() {
		return elements(this.#root, 'form').map(formOf);
	}
}

/**
 * { method: 'get' | 'post', action: string,
 *   fields: [[name, value]]             what is sent without a button
 *   names: [name]                       every field that can be filled in
 *   buttons: [{ name, value, text }] }
 */
function formOf(element) {
	const { method = 'get', action = '' } = attributesOf(element);
	const form = { method: method.toLowerCase(), action, fields: [], names: [], buttons: [] };

	for (const control of elements(element, 'input', 'button', 'textarea', 'select')) {
		addControl(form, control);
	}
	return form;
}

function addControl(form, control) {
	const { name = '', value, type, disabled, checked } = attributesOf(control);
	const kind = control.nodeName === 'input' ? type ?? 'text' : control.nodeName;

	if (disabled !== undefined) {
		return;
	}
	switch (kind) {
		case 'submit':
			form.buttons.push({ name, value: value ?? '', text: value ?? 'Submit' });
			return;
		case 'button':
			if (control.nodeName === 'button' && (type ?? 'submit') === 'submit') {
				form.buttons.push({ name, value: value ?? '', text: textOf(control) });
			}
			return;
		case 'reset':
		case 'image':
		case 'file':
			return;
	}
	if (name === '') {
		return;
	}
	form.names.push(name);
	switch (kind) {
		case 'checkbox':
		case 'radio':
			if (checked !== undefined) {
				form.fields.push([name, value ?? 'on']);
			}
			return;
		case 'select':
			form.fields.push([name, selectedOf(control)]);
			return;
		case 'textarea':
			form.fields.push([name, rawTextOf(control)]);
			return;
		default:
			form.fields.push([name, value ?? '']);
	}
}

function selectedOf(select) {
	const options = elements(select, 'option');
	const selected = options.find((option) => attributesOf(option).selected !== undefined) ?? options[0];
	return selected ? attributesOf(selected).value ?? textOf(selected) : '';
}

function* walk(node) {
	for (const child of node.childNodes ?? []) {
		yield child;
		yield* walk(child);
	}
}

function elements(node, ...tagNames) {
	return [...walk(node)].filter(({ nodeName }) => tagNames.includes(nodeName));
}

function attributesOf(element) {
	return Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]));
}

function rawTextOf(node) {
	return (node.childNodes ?? []).map((child) => {
		if (child.nodeName === '#text') {
			return child.value;
		}
		if (SILENT.has(child.nodeName)) {
			return '';
		}
		const text = rawTextOf(child);
		return INLINE.has(child.nodeName) ? text : ` ${text} `;
	}).join('');
}

function textOf(node) {
	return rawTextOf(node).replace(/\s+/g, ' ').trim();
}
