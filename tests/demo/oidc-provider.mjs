// oidc-provider as Node 20 needs it: it asks for Node 22 and warns at import,
// but of what it uses there only URL.parse is missing.

URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null);

const { warn } = console;
console.warn = () => {};
const { Provider } = await import('oidc-provider');
console.warn = warn;

export { Provider };
