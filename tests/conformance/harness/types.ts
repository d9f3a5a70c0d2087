/** The used part of the suite's src/types.ts. */

export const DRAFT_PROTOCOL_VERSION = '2026-07-28';

export type SpecVersion = '2025-11-25' | typeof DRAFT_PROTOCOL_VERSION;

export interface ConformanceCheck {
  id: string;
  name: string;
  description: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  timestamp: string;
  specReferences?: { id: string; url?: string }[];
  details?: Record<string, unknown>;
  errorMessage?: string;
}

export interface ClientScenario {
  name: string;
  description: string;
  source: { introducedIn: SpecVersion; removedIn?: SpecVersion };
  run(ctx: { serverUrl: string; specVersion: SpecVersion }): Promise<ConformanceCheck[]>;
}
