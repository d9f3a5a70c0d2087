// Makes oidc-provider run on Node.js 20. It requires Node.js 22 and warns at
// import, but only URL.parse is missing.

URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null);

const { warn } = console;
console.warn = () => {};
const { Provider } = await import('oidc-provider');
console.warn = warn;

export { Provider };
