// The types of forms. Nothing here runs.

/**
 * @typedef {'ar' | 'de' | 'en' | 'es' | 'fr' | 'it' | 'ja' | 'ko' | 'pt' | 'zh'} Language one of the languages of the pages
 * @typedef {string | { [language in Language]?: string }} Words in one language, or in several: the page shows its own, otherwise English,
 *     otherwise the first
 *
 * @typedef {object} FormFields what a page asks
 * @property {Language | undefined} [language] of the words that are in one language; `en` by default
 * @property {Words} title at most 120 characters
 * @property {Words | undefined} [text] at most 2 000 characters, also several lines
 * @property {readonly Fact[] | undefined} [facts] at most 20
 *
 * @typedef {FormFields & { fields: readonly Field[] }} InputForm with 1 to 16 fields. At most 16 384 bytes as JSON
 * @typedef {FormFields & { comment?: 'optional' | 'required' | undefined }} ApprovalForm without `comment`, nobody is asked for one
 *
 * @typedef {{ label: Words, value: Words }} Fact what is shown: 120 and 500 characters
 *
 * @typedef {TextField | SecretField | MultilineField | AddressField | NumberField | ChoiceField | CheckboxField} Field
 *
 * @typedef {object} FieldBase
 * @property {string} name of the value: at most 32 characters of a-z, 0-9 and _
 * @property {Words} label at most 200 characters
 * @property {Words | undefined} [help] at most 500 characters
 * @property {{ url: string, label: Words } | undefined} [link] where one gets the value: https
 * @property {boolean | undefined} [required] false by default
 *
 * @typedef {object} Lengths in characters
 * @property {number | undefined} [min] 0 by default
 * @property {number | undefined} [max] 1 000 by default, 8 192 for several lines, 254 for an email address, 2 048 for a URL
 *
 * @typedef {object} Format
 * @property {'digits' | 'letters' | 'alphanumeric' | 'hex' | 'token' | undefined} [format] the only characters that it has; `token`:
 *     printable ASCII without spaces
 *
 * @typedef {FieldBase & Lengths & Format & { type: 'text', default?: string | undefined }} TextField
 * @typedef {FieldBase & Lengths & { type: 'secret', save?: true | undefined, default?: undefined } & ((Format & { multiline?: undefined }) | { multiline: true, format?: undefined })} SecretField
 * @typedef {FieldBase & Lengths & { type: 'multiline', default?: string | undefined }} MultilineField
 * @typedef {FieldBase & Lengths & { type: 'email' | 'url', default?: string | undefined }} AddressField
 * @typedef {FieldBase & { type: 'number', min?: number | undefined, max?: number | undefined, default?: number | undefined }} NumberField
 * @typedef {FieldBase & { type: 'choice', choices: readonly Choice[], default?: string | undefined }} ChoiceField with 1 to 20 choices
 * @typedef {FieldBase & { type: 'checkbox', default?: boolean | undefined }} CheckboxField `required`: it must be ticked
 * @typedef {{ value: string, label: Words }} Choice
 *
 * @typedef {'starter' | 'others' | readonly string[]} Approver who decides: the subject; anyone else whom the sign-in knows; or these
 *     subjects, at most 16
 *
 * @typedef {{ [name: string]: string | number | boolean }} Values what the user has typed. An empty field is left out
 *
 * @typedef {object} Verify what is to be verified
 * @property {string} elicitationId
 * @property {string} provider
 * @property {Values} values
 * @property {AbortSignal} signal aborts at the time limit
 *
 * @typedef {object} Problem
 * @property {string} field the name of the field beside which it is shown
 * @property {Words} problem at most 500 characters. Never with the value
 *
 * @typedef {(request: Verify) => Promise<Problem | undefined | void> | Problem | undefined | void} VerifyFunction
 */

export {};
