// FrontMCP's decorators, as functions, and its flows: stages with hooks before
// and after each. Compared with FrontMCP 1.5.6.

const metadata = new WeakMap();
const hooks = new WeakMap();

const describe = (values) => (target) => void metadata.set(target, values);

export const Tool = describe;
export const App = describe;
export const Plugin = describe;

export const metadataOf = (target) => metadata.get(target);

/** Returns decorators of a plugin's methods, which are called with the flow. */
export function FlowHooksOf(flow) {
	const decorator = (when) => (stage) => (target, method) => {
		const list = hooks.get(target.constructor) ?? [];
		hooks.set(target.constructor, [...list, { flow, when, stage, method }]);
	};
	return { Will: decorator('will'), Did: decorator('did') };
}

export class Flows {
	#plugins;

	constructor(plugins) {
		this.#plugins = plugins.map((Class) => new Class());
	}

	/**
	 * @param {string} name
	 * @param {{ scope: object, state: FlowState }} flow
	 * @param {Record<string, () => unknown>} stages
	 */
	async run(name, flow, stages) {
		for (const [stage, run] of Object.entries(stages)) {
			await this.#callHooks(name, 'will', stage, flow);
			await run();
			await this.#callHooks(name, 'did', stage, flow);
		}
	}

	async #callHooks(flowName, when, stage, flow) {
		for (const plugin of this.#plugins) {
			for (const hook of hooks.get(plugin.constructor) ?? []) {
				if (hook.flow === flowName && hook.when === when && hook.stage === stage) await plugin[hook.method](flow);
			}
		}
	}
}

export class FlowState {
	constructor(values) {
		Object.assign(this, values);
	}

	set(key, value) {
		this[key] = value;
	}
}
