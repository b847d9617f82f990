/** Scenes for the window in a plain browser (`?scene=crew`), and for its tests. */
import type { Action } from '../generated/Action';
import type { Block } from '../generated/Block';
import type { Event } from '../generated/Event';
import type { EventKind } from '../generated/EventKind';
import type { InboxItem } from '../generated/InboxItem';
import type { SessionRow } from '../generated/SessionRow';
import type { Snapshot } from '../generated/Snapshot';
import type { TaskKind } from '../generated/TaskKind';
import type { TaskSpec } from '../generated/TaskSpec';
import type { ToolDetail } from '../generated/ToolDetail';
import type { ToolResult } from '../generated/ToolResult';
import { applyPanel, applySession, emptyPanel, emptySession } from '../state/fold';
import { MemoryHost, type Story } from './memory';

const NOW = Date.now();
export const SESSION = 's_1';
export const LEAD = 't_lead';

/** Builds a log of events, and the story that it makes. */
export class Script {
  readonly events: Event[] = [];
  #at = NOW - 120_000;

  constructor(mode: 'coordinator' | 'solo' = 'coordinator') {
    this.push(null, {
      kind: 'sessionCreated', projectId: 'p_1', title: 'New session', mode, permissionMode: 'default', provider: 'anthropic', baseUrl: null, model: 'claude-sonnet-5',
    });
    this.push(LEAD, { kind: 'taskStarted', spec: spec('lead', mode === 'solo' ? 'solo' : 'coordinator', 'The agent that you talk to', 0) });
  }

  push(task: string | null, kind: EventKind, place: { generation?: number; turn?: number; parent?: string; call?: string; ms?: number } = {}): Event {
    this.#at += place.ms ?? 900;
    const event = {
      v: 1, seq: this.events.length + 1, sessionId: SESSION, taskId: task, parentTaskId: place.parent ?? null, toolUseId: place.call ?? null,
      generation: place.generation ?? 1, turn: place.turn ?? 1, at: this.#at, ...kind,
    } as Event;
    this.events.push(event);
    return event;
  }

  user(text: string, task = LEAD): void {
    this.push(task, { kind: 'generationStarted', cause: 'message' }, { turn: 0 });
    this.push(task, { kind: 'entry', entry: { type: 'user', from: { type: 'user' }, text, messageId: null } }, { turn: 0 });
  }

  say(task: string, ...blocks: Block[]): void {
    this.push(task, { kind: 'entry', entry: { type: 'assistant', blocks, stop: 'tool_use', model: 'claude-sonnet-5', interrupted: false } });
    this.push(task, {
      kind: 'usage', requestId: 'r', model: 'claude-sonnet-5', usage: { input: 3_000, output: 400, cacheRead: 18_000, cacheWrite: 900, estimated: false },
      costMicroUsd: 21_000, priceVersion: '1', prefix: { tools: '', system: '', messages: '', count: 1 }, moved: null,
    });
  }

  result(task: string, callId: string, tool: string, detail: ToolDetail, content = 'done', status: ToolResult['status'] = 'ok'): void {
    this.push(task, { kind: 'entry', entry: { type: 'toolResults', results: [{ callId, tool, status, content, full: null, detail, durationMs: 12 }] } });
  }

  /** A worker from its dispatch on; the receipt is the lead's. */
  worker(id: string, name: string, description: string, tint: number, call: string, prompt = `See to ${name}.`): void {
    this.push(id, { kind: 'taskStarted', spec: { ...spec('worker', name, description, tint), prompt } }, { parent: LEAD, call });
    this.push(id, { kind: 'generationStarted', cause: 'dispatch' }, { parent: LEAD, call, turn: 0 });
    this.push(id, { kind: 'entry', entry: { type: 'user', from: { type: 'agent', taskId: LEAD }, text: prompt, messageId: null } }, { turn: 0 });
    this.result(LEAD, call, 'Agent', { type: 'task', taskId: id, name });
  }

  ask(task: string, name: string, callId: string, action: Action, id = 'i_1'): InboxItem {
    const item: InboxItem = {
      id, sessionId: SESSION, taskId: task, asker: `coordinator > ${name}`, callId, reason: 'I run the check before I report.', at: this.#at,
      ask: { type: 'permission', action, because: 'this command is not known to be harmless', always: { effect: 'allow', pattern: action.type === 'command' ? `Bash(${action.command})` : 'Edit(src/a.ts)' }, offerAcceptEdits: action.type === 'edit' },
    };
    this.push(task, { kind: 'inboxOpened', item });
    return item;
  }

  end(task: string, outcome: (EventKind & { kind: 'generationEnded' })['outcome'], result: string | null, toolUses = 3): void {
    this.push(task, { kind: 'generationEnded', outcome, result, value: null, evidence: { toolUses, commands: [], files: [], violations: [], killedShells: [], wallMs: 31_000 } });
  }

  story(extra: Partial<Snapshot> = {}): Story {
    const view = emptySession(SESSION);
    const panels: Story['panels'] = {};
    for (const event of this.events) {
      applySession(view, event);
      if (event.taskId) applyPanel((panels[event.taskId] ??= emptyPanel(event.taskId)), event);
    }
    const row = { id: SESSION, projectId: 'p_1', title: view.title, state: view.inbox.length ? 'asks' : 'busy', liveWorkers: 2, asks: view.inbox.length, createdAt: NOW, updatedAt: NOW } satisfies SessionRow;
    return { snapshot: { ...blank(), sessions: [row, ...OTHERS], inbox: view.inbox, ...extra }, views: [view], panels };
  }
}

const OTHERS: SessionRow[] = [
  { id: 's_2', projectId: 'p_1', title: 'Upgrade to Postgres 18', state: 'idle', liveWorkers: 0, asks: 0, createdAt: NOW, updatedAt: NOW - 7_200_000 },
  { id: 's_3', projectId: 'p_2', title: 'Fuzz crash in lexer', state: 'interrupted', liveWorkers: 0, asks: 0, createdAt: NOW, updatedAt: NOW - 90_000_000 },
];

export function spec(kind: TaskKind, name: string, description: string, tint: number): TaskSpec {
  return { kind, name, description, prompt: '', role: kind === 'lead' ? 'coordinator' : 'worker', model: 'claude-sonnet-5', permissionMode: 'default', tint, outputFile: `output/s_1/${name}.jsonl`, frozen: null };
}

export function blank(): Snapshot {
  return {
    seq: 0,
    projects: [
      { id: 'p_1', path: '/home/me/code/webshop', name: 'webshop', available: true, openedAt: NOW, sessions: 2 },
      { id: 'p_2', path: '/home/me/code/parser-rs', name: 'parser-rs', available: true, openedAt: NOW, sessions: 1 },
    ],
    sessions: [], inbox: [],
    settings: {
      onboarded: true, provider: { kind: 'anthropic', baseUrl: null, plainHttpConfirmed: false }, models: { lead: '', fast: '', standard: '', strong: '' },
      sessionMode: 'coordinator', permissionMode: 'default', limits: { workersAtOnce: 20, workersPerSession: 50, turnsPerGeneration: 100, repeats: 5, waitForShellsMs: 600_000 },
      theme: 'system', fontSize: 13.5, durable: false,
    },
    environment: { version: '0.0.0', dataFolder: '/home/me/.local/share/coxswain', dataBytes: 48_300_000, key: 'keychain', models: [{ provider: 'anthropic', id: 'claude-sonnet-5', context: 200_000 }] },
  };
}

export const text = (value: string): Block => ({ type: 'text', text: value });
export const call = (id: string, name: string, input: unknown): Block => ({ type: 'toolCall', call: { id, name, input, invalid: null, raw: null } });
export const change = (path: string, diff: string): ToolDetail => ({ type: 'change', change: { path, before: 'a', after: 'b', added: 2, removed: 1 }, diff });

/** Four workers: one edits, one asks, one is done, one was stopped. */
export function crew(): Story {
  const script = new Script();
  script.push(null, { kind: 'sessionTitled', title: 'Fix the null pointer in auth' });
  script.user('Login crashes for users without a profile. Find out why, fix it, and make sure that the tests cover it.');
  script.say(LEAD, text('I’ll look at the crash and at the tests side by side.'), call('c1', 'Agent', { description: 'Fix validate.ts:42', prompt: '…' }), call('c2', 'Agent', { description: 'Survey the auth tests', prompt: '…' }), call('c4', 'Agent', { description: 'Profile the login route', prompt: '…' }));
  script.worker('t_1', 'auth-bug', 'Fix validate.ts:42', 0, 'c1', 'src/auth/validate.ts:42 reads user.profile.id without a check. Return null when there is no profile.');
  script.worker('t_2', 'auth-tests', 'Survey the auth tests', 1, 'c2');
  script.worker('t_4', 'perf-probe', 'Profile the login route', 2, 'c4');
  script.say('t_2', call('b1', 'Glob', { pattern: 'test/auth/**' }), call('b2', 'Read', { path: 'test/auth/login.spec.ts' }));
  script.result('t_2', 'b1', 'Glob', { type: 'found', count: 12, truncated: false });
  script.result('t_2', 'b2', 'Read', { type: 'read', path: 'test/auth/login.spec.ts', lines: 204, totalLines: 204 });
  script.say('t_2', text('Nothing covers a user without a profile. `login.spec.ts:88` builds every user through a factory that always adds one.'));
  script.end('t_2', { type: 'completed' }, 'Nothing covers a user without a profile.');
  script.push(LEAD, { kind: 'entry', entry: { type: 'runtime', note: { kind: 'notification', envelope: { taskId: 't_2', name: 'auth-tests', generation: 1, toolUseId: 'c2', outputFile: 'o', outcome: { type: 'completed' }, summary: 'auth-tests completed', result: null, evidence: null, usage: { totalTokens: 22_300, toolUses: 14, durationMs: 31_000 }, stillOpen: [] } } } });
  script.say(LEAD, text('The cause is clear. An independent worker verifies meanwhile.'), call('c3', 'Agent', { description: 'Run and extend the auth tests', prompt: '…', subagent_type: 'verify' }));
  script.worker('t_3', 'verify', 'Run and extend the auth tests', 3, 'c3');
  script.say('t_1', text('I read the place first.'), call('a1', 'Read', { path: 'src/auth/validate.ts' }), call('a2', 'Edit', { path: 'src/auth/validate.ts' }), call('a3', 'Bash', { command: 'npx vitest run src/auth' }));
  script.result('t_1', 'a1', 'Read', { type: 'read', path: 'src/auth/validate.ts', lines: 118, totalLines: 118 });
  script.result('t_1', 'a2', 'Edit', change('src/auth/validate.ts', '@@ -40,4 +40,5 @@\n   const user = await load(id)\n-  return user.profile.id\n+  if (!user.profile) return null\n+  return user.profile.id\n'));
  script.push('t_1', { kind: 'toolStarted', callId: 'a3', readOnly: false });
  script.say('t_4', call('d1', 'Bash', { command: 'autocannon -d 600 :3000/login' }));
  script.result('t_4', 'd1', 'Bash', { type: 'command', run: { command: 'autocannon', exitCode: null, signal: 9, timedOut: false, killed: 2, outputBytes: 80, durationMs: 9_000 }, background: null }, 'Running 600s test @ :3000/login\n\u001b[33mreq/s  1 204   p99 88 ms\u001b[0m', 'interrupted');
  script.end('t_4', { type: 'killed', by: 'user' }, null);
  script.say('t_3', call('e1', 'Grep', { pattern: 'describe\\(.*auth' }), call('e2', 'Bash', { command: 'npm run db:reset -- --env test' }));
  script.result('t_3', 'e1', 'Grep', { type: 'found', count: 9, truncated: false });
  script.ask('t_3', 'verify', 'e2', { type: 'command', command: 'npm run db:reset -- --env test', cwd: '.', background: false });
  return script.story();
}

function question(): Story {
  const script = new Script();
  script.user('Clean up the old API.');
  script.say(LEAD, text('One thing is yours to decide.'), call('q1', 'AskUserQuestion', {}));
  script.push(LEAD, { kind: 'inboxOpened', item: { id: 'i_q', sessionId: SESSION, taskId: LEAD, asker: 'coordinator', callId: 'q1', reason: null, at: NOW, ask: { type: 'question', questions: [{ header: 'Old API', question: 'What shall become of /v1?', options: [{ label: 'Delete it', description: 'Two clients still call it.' }, { label: 'Keep it for a year', description: 'A deprecation header is added.' }], multiSelect: false }] } } });
  return script.story();
}

function interrupted(): Story {
  const script = new Script();
  script.user('Audit the payment routes.');
  script.say(LEAD, text('One worker for each route.'), call('c1', 'Agent', { description: 'Audit refunds', prompt: '…' }));
  script.worker('t_1', 'refunds', 'Audit refunds', 4, 'c1');
  script.say('t_1', text('I have read the first two handlers.'), call('a1', 'Read', { path: 'src/refunds.ts' }));
  script.push('t_1', { kind: 'taskInterrupted', reason: 'Coxswain ended while it ran' });
  script.end(LEAD, { type: 'completed' }, 'Sent.');
  return script.story();
}

function firstRun(): Story {
  const snapshot = blank();
  return { snapshot: { ...snapshot, projects: [], settings: { ...snapshot.settings, onboarded: false } }, views: [], panels: {} };
}

const SCENES: Record<string, () => Story> = {
  crew, question, interrupted, firstrun: firstRun, empty: () => ({ snapshot: { ...blank(), projects: [] }, views: [], panels: {} }),
};

/** A host that plays a scene. */
export function sceneHost(name: string | null): MemoryHost {
  const story = (SCENES[name ?? 'crew'] ?? crew)();
  const host = new MemoryHost(story);
  const theme = new URLSearchParams(location.search).get('theme');
  if (theme === 'dark' || theme === 'light') story.snapshot.settings = { ...story.snapshot.settings, theme };
  queueMicrotask(() => {
    if (story.panels['t_2']) setTimeout(() => host.say({
      panels: [{ taskId: 't_2', retention: { type: 'leaving', evictAt: Date.now() + 18_000 } }, { taskId: 't_4', retention: { type: 'viewed' } }],
      deltas: [{ taskId: 't_1', generation: 1, turn: 2, block: 0, kind: 'text', tool: '', offset: 0, text: 'Running the auth suite before I report' }],
    }), 400);
  });
  return host;
}
