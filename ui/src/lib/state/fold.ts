/**
 * Events in, view out: the same as `cox-protocol/src/fold.rs`, which the shared vectors in
 * `cox-protocol/tests/fold` prove. What changes is copied, so that whoever holds the old object keeps it.
 */
import type { Event } from '../generated/Event';
import type { InboxItem } from '../generated/InboxItem';
import type { OpenCall } from '../generated/OpenCall';
import type { PanelView } from '../generated/PanelView';
import type { SessionView } from '../generated/SessionView';
import type { TaskStatus } from '../generated/TaskStatus';
import type { TaskView } from '../generated/TaskView';
import type { ToolCall } from '../generated/ToolCall';
import type { Entry } from '../generated/Entry';

const ACTIVITIES = 5;
const RESULT_PREVIEW = 2_000;
const CHANGED_FILES = 200;
const CHANGED_OUTSIDE = 50;

export function emptySession(id: string): SessionView {
  return {
    seq: 0, id, projectId: null, title: '', mode: 'coordinator', permissionMode: 'default', provider: '', baseUrl: null,
    model: '', createdAt: 0, updatedAt: 0, tasks: [], inbox: [], queued: [],
  };
}

export function emptyPanel(taskId: string): PanelView {
  return { seq: 0, taskId, entries: [], hasEarlier: false, openCalls: {}, partial: null };
}

/** Folds one event in. Events come in the order of `seq`; one that is already in changes nothing. */
export function applySession(view: SessionView, event: Event): void {
  if (event.sessionId !== view.id || event.seq <= view.seq) return;
  view.seq = event.seq;
  view.updatedAt = event.at;
  switch (event.kind) {
    case 'sessionCreated':
      view.projectId = event.projectId;
      view.title = event.title;
      view.mode = event.mode;
      view.permissionMode = event.permissionMode;
      view.provider = event.provider;
      view.baseUrl = event.baseUrl;
      view.model = event.model;
      view.createdAt = event.at;
      break;
    case 'sessionTitled':
      view.title = event.title;
      break;
    case 'sessionModeSet':
      view.permissionMode = event.permissionMode;
      break;
    case 'taskStarted':
      if (event.taskId) view.tasks = [...view.tasks, newTask(event.taskId, event)];
      break;
    case 'inboxOpened':
      view.inbox = [...view.inbox, event.item];
      changeTask(view, event.item.taskId, (task) => (task.asks += 1));
      break;
    case 'inboxClosed': {
      const item = view.inbox.find((open) => open.id === event.id);
      if (!item) break;
      view.inbox = view.inbox.filter((open) => open !== item);
      changeTask(view, item.taskId, (task) => (task.asks = Math.max(0, task.asks - 1)));
      break;
    }
    case 'messageQueued':
      view.queued = [...view.queued, event.message];
      break;
    case 'messageDelivered':
    case 'messageWithdrawn':
      view.queued = view.queued.filter((message) => message.id !== event.messageId);
      break;
    default:
      if (event.taskId) changeTask(view, event.taskId, (task) => applyTask(task, event));
  }
}

function changeTask(view: SessionView, id: string, change: (task: TaskView) => void): void {
  const at = view.tasks.findIndex((task) => task.id === id);
  const old = view.tasks[at];
  if (!old) return;
  const task = { ...old };
  change(task);
  view.tasks = view.tasks.with(at, task);
}

function newTask(id: string, event: Event & { kind: 'taskStarted' }): TaskView {
  const spec = event.spec;
  return {
    id, parent: event.parentTaskId, toolUseId: event.toolUseId, kind: spec.kind, name: spec.name,
    description: spec.description, role: spec.role, model: spec.model, permissionMode: spec.permissionMode, tint: spec.tint,
    outputFile: spec.outputFile, status: 'pending', asks: 0, generation: 0, turn: 0, startedAt: event.at, endedAt: null,
    outcome: null, result: null, evidence: null,
    totals: {
      contextTokens: 0, latestInput: 0, sum: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, estimated: false },
      costMicroUsd: 0, unpricedRequests: 0, requests: 0, toolUses: 0,
    },
    activities: [], changedFiles: [], changedOutside: [], retry: null,
  };
}

/** Kinds that concern a task's own view; others, later ones too, leave it as it is. */
const OF_TASK = new Set<string>([
  'generationStarted', 'taskInterrupted', 'taskResumed', 'taskWaiting', 'entry', 'toolStarted', 'usage', 'requestRetried',
  'generationEnded', 'fileChanged',
]);

function applyTask(task: TaskView, event: Event): void {
  if (!OF_TASK.has(event.kind)) return;
  if (event.turn > 0) task.turn = event.turn;
  switch (event.kind) {
    case 'generationStarted':
      task.status = 'running';
      task.generation = event.generation;
      task.turn = 0;
      task.startedAt = event.at;
      task.endedAt = null;
      task.outcome = null;
      task.changedOutside = [];
      break;
    case 'taskInterrupted':
      task.status = 'interrupted';
      task.retry = null;
      break;
    case 'taskResumed':
      task.status = 'running';
      break;
    case 'taskWaiting':
      task.status = 'waiting';
      break;
    case 'entry':
      applyEntry(task, event.at, event.entry);
      break;
    case 'usage': {
      const { usage, costMicroUsd } = event;
      const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
      const { sum } = task.totals;
      task.retry = null;
      task.totals = {
        ...task.totals,
        contextTokens: prompt + usage.output,
        latestInput: prompt,
        sum: {
          input: sum.input + usage.input, output: sum.output + usage.output, cacheRead: sum.cacheRead + usage.cacheRead,
          cacheWrite: sum.cacheWrite + usage.cacheWrite, estimated: sum.estimated || usage.estimated,
        },
        requests: task.totals.requests + 1,
        costMicroUsd: task.totals.costMicroUsd + (costMicroUsd ?? 0),
        unpricedRequests: task.totals.unpricedRequests + (costMicroUsd === null ? 1 : 0),
      };
      break;
    }
    case 'requestRetried':
      task.retry = {
        attempt: event.attempt, maxAttempts: event.maxAttempts, dueAt: event.at + event.delayMs, category: event.category,
        message: event.message,
      };
      break;
    case 'generationEnded':
      task.status = event.outcome.type as TaskStatus;
      task.endedAt = event.at;
      task.outcome = event.outcome;
      task.result = event.result === null ? null : [...event.result].slice(0, RESULT_PREVIEW).join('');
      task.evidence = event.evidence;
      task.retry = null;
      break;
    case 'fileChanged':
      if (event.own) task.changedFiles = remember(task.changedFiles, event.change.path, CHANGED_FILES);
      else task.changedOutside = remember(task.changedOutside, event.change.path, CHANGED_OUTSIDE);
      break;
  }
}

function remember(list: string[], path: string, most: number): string[] {
  return [...list.filter((known) => known !== path), path].slice(-most);
}

function applyEntry(task: TaskView, at: number, entry: Entry): void {
  if (entry.type === 'assistant') {
    const done = callsOf(entry).map((call) => ({ callId: call.id, tool: call.name, label: callLabel(call.name, call.input), at }));
    task.retry = null;
    task.activities = [...task.activities, ...done].slice(-ACTIVITIES);
  } else if (entry.type === 'toolResults') {
    task.totals = { ...task.totals, toolUses: task.totals.toolUses + entry.results.length };
  }
}

export function callsOf(entry: Entry): ToolCall[] {
  return entry.type === 'assistant' ? entry.blocks.flatMap((block) => (block.type === 'toolCall' ? [block.call] : [])) : [];
}

const MAIN_ARGUMENT: Record<string, string> = {
  Read: 'path', Write: 'path', Edit: 'path', Glob: 'pattern', Grep: 'pattern', Bash: 'command', Agent: 'description',
  SendMessage: 'to', TaskStop: 'task_id', TaskOutput: 'task_id',
};

/** The main argument of a call in one line. */
export function callLabel(tool: string, input: unknown): string {
  const key = MAIN_ARGUMENT[tool];
  const value = key && typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[key] : undefined;
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = [...text.split(/\p{White_Space}+/u).filter(Boolean).join(' ')];
  return line.length > 120 ? line.slice(0, 119).join('') + '…' : line.join('');
}

/** Folds one event in. Events come in the order of `seq`; one that is already in changes nothing. */
export function applyPanel(panel: PanelView, event: Event): void {
  if (event.taskId !== panel.taskId || event.seq <= panel.seq) return;
  panel.seq = event.seq;
  switch (event.kind) {
    case 'entry': {
      const entry = event.entry;
      if (entry.type === 'assistant') {
        panel.partial = null;
        const opened = callsOf(entry).map((call) => [call.id, 'queued' as OpenCall] as const);
        panel.openCalls = { ...panel.openCalls, ...Object.fromEntries(opened) };
      } else if (entry.type === 'toolResults') {
        const answered = new Set(entry.results.map((result) => result.callId));
        panel.openCalls = Object.fromEntries(Object.entries(panel.openCalls).filter(([id]) => !answered.has(id)));
      }
      panel.entries.push({ seq: event.seq, at: event.at, generation: event.generation, turn: event.turn, entry });
      break;
    }
    case 'toolStarted':
      setCall(panel, event.callId, 'running');
      break;
    case 'inboxOpened':
      setCall(panel, event.item.callId, 'asking');
      break;
    case 'generationEnded':
    case 'taskInterrupted':
      panel.partial = null;
      break;
  }
}

function setCall(panel: PanelView, id: string, state: OpenCall): void {
  if (id in panel.openCalls) panel.openCalls = { ...panel.openCalls, [id]: state };
}

/** Is the tree at work, and how (invariant 12)? */
export function isLive(status: TaskStatus): boolean {
  return status === 'pending' || status === 'running' || status === 'waiting';
}

export function sortInbox(items: InboxItem[]): InboxItem[] {
  return [...items].sort((a, b) => a.at - b.at || a.id.localeCompare(b.id));
}
