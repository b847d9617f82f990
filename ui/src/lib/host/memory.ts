import type { Batch } from '../generated/Batch';
import type { Command } from '../generated/Command';
import type { CoxError } from '../generated/CoxError';
import type { Event } from '../generated/Event';
import type { Page } from '../generated/Page';
import type { PanelView } from '../generated/PanelView';
import type { Query } from '../generated/Query';
import type { Reply } from '../generated/Reply';
import type { SessionView } from '../generated/SessionView';
import type { Snapshot } from '../generated/Snapshot';
import { applyPanel, applySession, emptyPanel } from '../state/fold';
import type { Drop, Host } from './types';

/** What a memory host knows; the engine's part of the story. */
export interface Story {
  snapshot: Snapshot;
  views: SessionView[];
  panels: Record<string, PanelView>;
  picked?: string;
  initial?: string;
}

const EMPTY: Batch = {
  name: 'task-progress', events: [], deltas: [], panels: [], sessions: [], live: [], projects: null, environment: null, gap: false,
};

/** A host without an engine: it answers from a story, records what it is asked, and says what a test tells it to. */
export class MemoryHost implements Host {
  readonly submitted: Command[] = [];
  readonly queried: Query[] = [];
  /** Answers of commands, by type; an error is thrown. */
  readonly replies = new Map<Command['type'], Reply | CoxError | ((command: Command) => Reply)>();
  readonly story: Story;
  #listen: (batch: Batch) => void = () => {};
  #drop: (drop: Drop) => void = () => {};

  constructor(story: Story) {
    this.story = story;
  }

  async attach(onBatch: (batch: Batch) => void): Promise<Snapshot> {
    this.#listen = onBatch;
    return structuredClone(this.story.snapshot);
  }

  async submit(command: Command): Promise<Reply> {
    this.submitted.push(command);
    const reply = this.replies.get(command.type);
    if (typeof reply === 'function') return reply(command);
    if (reply && 'code' in reply) throw reply;
    if (reply) return reply;
    if (command.type === 'sendMessage') return { type: 'message', messageId: 'm_1', queued: false };
    if (command.type === 'setKey') return { type: 'key', inKeychain: true };
    if (command.type === 'newSession') return { type: 'session', sessionId: this.story.views[0]?.id ?? 's_1', lead: 't_lead' };
    return { type: 'done' };
  }

  async query(query: Query): Promise<Page> {
    this.queried.push(query);
    const view = this.story.views.find((known) => 'sessionId' in query && known.id === query.sessionId);
    switch (query.type) {
      case 'session':
        if (!view) throw { code: 'not_found', message: 'there is no such session', hint: null } satisfies CoxError;
        return { type: 'session', view: structuredClone(view), liveMode: view.permissionMode, owner: null };
      case 'panel':
        return { type: 'panel', view: structuredClone(this.story.panels[query.taskId] ?? emptyPanel(query.taskId)), fromDisk: false };
      case 'transcript':
        return { type: 'transcript', rows: [], hasEarlier: false };
      case 'rules':
        return { type: 'rules', rows: [] };
      case 'environment':
        return { type: 'environment', environment: this.story.snapshot.environment };
      case 'checkProvider':
        return { type: 'provider', models: ['model-a', 'model-b'] };
      case 'search':
        return { type: 'search', hits: [] };
      case 'sessions':
        return { type: 'sessions', rows: [], more: false };
      case 'projects':
        return { type: 'projects', rows: this.story.snapshot.projects };
      case 'blob':
        return { type: 'blob', page: { blob: { hash: query.hash, size: 4 }, offset: 0, text: 'all', next: null } };
    }
  }

  async pickFolder(): Promise<string | null> {
    return this.story.picked ?? null;
  }

  async initialFolder(): Promise<string | null> {
    return this.story.initial ?? null;
  }

  onDrop(listen: (drop: Drop) => void): void {
    this.#drop = listen;
  }

  /** Says something, as the engine would. Events are folded into the story too. */
  say(batch: Partial<Batch>): void {
    for (const event of batch.events ?? []) this.#fold(event);
    this.#listen({ ...EMPTY, ...batch });
  }

  drop(drop: Drop): void {
    this.#drop(drop);
  }

  #fold(event: Event): void {
    for (const view of this.story.views) applySession(view, event);
    const id = event.taskId;
    if (id) applyPanel((this.story.panels[id] ??= emptyPanel(id)), event);
  }
}
