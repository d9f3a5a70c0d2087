import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Everything that the benchmark writes. */
export const FOLDER = path.join(ROOT, 'build/bench');
/** What is compiled for it. */
export const BIN = path.join(FOLDER, 'bin');
export const PEERS = path.join(ROOT, 'tests/bench/peers');
