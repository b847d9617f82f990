import type { Block } from '../../lib/generated/Block';
import type { EntryRow } from '../../lib/generated/EntryRow';
import type { RuntimeNote } from '../../lib/generated/RuntimeNote';
import type { ToolCall } from '../../lib/generated/ToolCall';
import type { ToolResult } from '../../lib/generated/ToolResult';

/** One thing in a transcript. */
export type Row = { key: string; at: number; turn: number } & (
  | { type: 'user'; text: string; from: 'user' | 'agent' | 'runtime' }
  | { type: 'text'; text: string; heading: boolean; cut: boolean }
  | { type: 'thinking'; text: string }
  | { type: 'tool'; call: ToolCall; result: ToolResult | undefined }
  | { type: 'dispatch'; calls: { call: ToolCall; result: ToolResult | undefined }[] }
  | { type: 'note'; note: RuntimeNote }
);

const DIRECTS = new Set(['Agent', 'SendMessage']);

/** Entries as rows: calls with their results, dispatches that belong together in one card. */
export function toRows(entries: EntryRow[]): Row[] {
  const results = new Map<string, ToolResult>();
  for (const { entry } of entries) if (entry.type === 'toolResults') for (const result of entry.results) results.set(result.callId, result);
  const rows: Row[] = [];
  for (const { seq, at, turn, entry } of entries) {
    const place = (part: number | string) => ({ key: `${seq}.${part}`, at, turn });
    if (entry.type === 'user') rows.push({ ...place('u'), type: 'user', text: entry.text, from: entry.from.type });
    else if (entry.type === 'runtime') rows.push({ ...place('n'), type: 'note', note: entry.note });
    else if (entry.type === 'assistant') rows.push(...blockRows(entry.blocks, place, results, entry.interrupted));
  }
  return rows;
}

function blockRows(blocks: Block[], place: (part: number) => { key: string; at: number; turn: number }, results: Map<string, ToolResult>, cut: boolean): Row[] {
  const rows: Row[] = [];
  let heading = true;
  blocks.forEach((block, part) => {
    if (block.type === 'text' && block.text.trim()) {
      rows.push({ ...place(part), type: 'text', text: block.text, heading, cut: cut && part === blocks.length - 1 });
      heading = false;
    } else if (block.type === 'thinking' && block.text.trim()) {
      rows.push({ ...place(part), type: 'thinking', text: block.text });
    } else if (block.type === 'toolCall') {
      const pair = { call: block.call, result: results.get(block.call.id) };
      const last = rows.at(-1);
      if (!DIRECTS.has(block.call.name)) rows.push({ ...place(part), type: 'tool', ...pair });
      else if (last?.type === 'dispatch') last.calls.push(pair);
      else rows.push({ ...place(part), type: 'dispatch', calls: [pair] });
    }
  });
  return rows;
}

/** What a result comes to, in a word or two. */
export function measure(result: ToolResult): string {
  const { detail } = result;
  if (detail.type === 'read') return `${detail.lines} lines`;
  if (detail.type === 'change') return `+${detail.change.added} −${detail.change.removed}`;
  if (detail.type === 'found') return `${detail.count}${detail.truncated ? '+' : ''} found`;
  if (detail.type === 'command') {
    const { run } = detail;
    const killed = run.killed > 0 ? `, ${run.killed} process${run.killed === 1 ? '' : 'es'} ended` : '';
    if (detail.background) return 'in the background';
    if (run.timedOut) return `timed out${killed}`;
    if (run.exitCode !== null) return `exit ${run.exitCode}`;
    return run.signal === null ? `stopped${killed}` : `killed${killed}`;
  }
  return result.status === 'ok' ? '' : STATUS[result.status];
}

export const STATUS: Record<ToolResult['status'], string> = {
  ok: 'done', error: 'failed', invalid_call: 'can’t be run', denied: 'denied', no_ui: 'nobody could be asked',
  interrupted: 'interrupted', outcome_unknown: 'outcome unknown',
};
