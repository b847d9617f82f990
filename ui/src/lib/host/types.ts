import type { Batch } from '../generated/Batch';
import type { Command } from '../generated/Command';
import type { CoxError } from '../generated/CoxError';
import type { Page } from '../generated/Page';
import type { Query } from '../generated/Query';
import type { Reply } from '../generated/Reply';
import type { Snapshot } from '../generated/Snapshot';

/** What is dragged over the window. */
export type Drop =
  | { type: 'enter'; paths: string[] }
  | { type: 'leave' }
  | { type: 'drop'; paths: string[] };

/** The engine's side of the window. Implemented by Tauri in the app, and in memory for tests and the browser. */
export interface Host {
  /** Begins to listen; batches may come before the snapshot does. */
  attach(onBatch: (batch: Batch) => void): Promise<Snapshot>;
  /** Asks the engine to do something. Fails with a `CoxError`. */
  submit(command: Command): Promise<Reply>;
  /** Asks the engine to tell something. Fails with a `CoxError`. */
  query(query: Query): Promise<Page>;
  /** The folder picker of the desktop; null when it was closed. */
  pickFolder(): Promise<string | null>;
  /** The folder of the command line, once. */
  initialFolder(): Promise<string | null>;
  /** Folders and files dragged in from outside. */
  onDrop(listen: (drop: Drop) => void): void;
}

/** An error as the engine gives it; anything else becomes one. */
export function toCoxError(error: unknown): CoxError {
  if (typeof error === 'object' && error !== null && 'code' in error && 'message' in error) return error as CoxError;
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), hint: null };
}
