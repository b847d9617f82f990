import type { Outcome } from './generated/Outcome';
import type { PermissionMode } from './generated/PermissionMode';
import type { TaskStatus } from './generated/TaskStatus';
import type { TaskView } from './generated/TaskView';
import type { Totals } from './generated/Totals';
import type { TreeState } from './generated/TreeState';

export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function age(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  const days = Math.floor(hours / 24);
  return days < 60 ? `${days} d` : `${Math.floor(days / 30)} mo`;
}

export function tokens(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 100_000) return `${(count / 1_000).toFixed(1).replace(/\.0$/, '')}k`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  if (count < 1_048_576) return `${(count / 1_024).toFixed(1)} KB`;
  return count < 1_073_741_824 ? `${(count / 1_048_576).toFixed(1)} MB` : `${(count / 1_073_741_824).toFixed(2)} GB`;
}

export function cost(totals: Totals, provider: string): string {
  if (provider === 'rehearsal') return 'no cost';
  if (totals.requests === 0) return '';
  if (totals.unpricedRequests === totals.requests) return 'price unknown';
  const dollars = totals.costMicroUsd / 1_000_000;
  const text = dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
  return totals.unpricedRequests > 0 ? `${text} + ?` : text;
}

export const MODES: { mode: PermissionMode; name: string; says: string }[] = [
  { mode: 'plan', name: 'Plan only', says: 'Nothing is changed and nothing is run.' },
  { mode: 'default', name: 'Ask before changes', says: 'Every change and every command that is not known to be harmless is asked about.' },
  { mode: 'acceptEdits', name: 'Edits pass, commands ask', says: 'Files inside the project are changed without asking; commands are asked about.' },
  { mode: 'bypassPermissions', name: 'Nothing asks', says: 'For this session only, until Coxswain is closed. Protected files still ask.' },
];

export function modeName(mode: PermissionMode): string {
  return MODES.find((known) => known.mode === mode)?.name ?? mode;
}

const KILLED: Record<string, string> = { user: 'stopped by you', coordinator: 'stopped by the coordinator', owner: 'ended with its owner' };

export function outcomeWords(outcome: Outcome): string {
  if (outcome.type === 'completed') return 'done';
  if (outcome.type === 'killed') return KILLED[outcome.by] ?? 'stopped';
  return 'failed';
}

const STATUS: Record<TaskStatus, string> = {
  pending: 'waits for a free place', running: 'running', waiting: 'waits for its commands', interrupted: 'interrupted',
  completed: 'done', failed: 'failed', killed: 'stopped',
};

export function statusWords(task: TaskView): string {
  if (task.asks > 0) return 'asks you';
  if (task.outcome) return outcomeWords(task.outcome);
  return STATUS[task.status];
}

export function elapsed(task: TaskView, now: number): string {
  if (task.generation === 0) return '';
  return clock((task.endedAt ?? now) - task.startedAt);
}

export const TREE: Record<TreeState, string> = {
  idle: '', busy: 'busy', asks: 'asks', interrupted: 'interrupted', failed: 'failed',
};
