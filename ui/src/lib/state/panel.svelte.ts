import type { Delta } from '../generated/Delta';
import type { EntryRow } from '../generated/EntryRow';
import type { Event } from '../generated/Event';
import type { OpenCall } from '../generated/OpenCall';
import type { PanelView } from '../generated/PanelView';
import type { Partial } from '../generated/Partial';
import { applyPanel } from './fold';

/** What one panel shows: the transcript's end, open calls, and the answer in progress. */
export class PanelState {
  entries = $state.raw<EntryRow[]>([]);
  openCalls = $state.raw<Record<string, OpenCall>>({});
  partial = $state.raw<Partial | null>(null);
  hasEarlier = $state(false);
  #view: PanelView;

  constructor(view: PanelView) {
    this.#view = view;
    this.flush();
  }

  get seq(): number {
    return this.#view.seq;
  }

  apply(event: Event): void {
    applyPanel(this.#view, event);
  }

  /** Takes a piece of the answer in progress. False: something is missing, and the panel has to be asked for again. */
  delta(delta: Delta): boolean {
    const view = this.#view;
    if (view.partial?.generation !== delta.generation || view.partial.turn !== delta.turn) {
      // A piece of an answer that is in the transcript already came late.
      const last = view.entries.findLast((row) => row.entry.type === 'assistant');
      const isOver = last && (delta.generation < last.generation || (delta.generation === last.generation && delta.turn <= last.turn));
      if (isOver) return true;
      if (delta.block !== 0 || delta.offset !== 0) return false;
      view.partial = { generation: delta.generation, turn: delta.turn, blocks: [] };
    }
    const blocks = [...view.partial.blocks];
    if (delta.block > blocks.length) return false;
    const block = blocks[delta.block] ?? { kind: delta.kind, text: '', tool: delta.tool };
    if (delta.offset > block.text.length) return false;
    const known = block.text.length - delta.offset;
    blocks[delta.block] = { ...block, text: block.text + delta.text.slice(known) };
    view.partial = { ...view.partial, blocks };
    return true;
  }

  /** Puts earlier entries before the ones that are here. */
  prepend(rows: EntryRow[], hasEarlier: boolean): void {
    this.#view.entries = [...rows, ...this.#view.entries];
    this.#view.hasEarlier = hasEarlier;
    this.flush();
  }

  /** Shows what was folded in; once a batch. */
  flush(): void {
    const view = this.#view;
    if (this.entries.length !== view.entries.length || this.entries[0] !== view.entries[0]) this.entries = [...view.entries];
    this.openCalls = view.openCalls;
    this.partial = view.partial;
    this.hasEarlier = view.hasEarlier;
  }
}
