import { describe, expect, it } from 'vitest';
import { PanelState } from '../src/lib/state/panel.svelte';
import { emptyPanel } from '../src/lib/state/fold';
import { LEAD, Script, text } from '../src/lib/host/scenes';

const piece = (turn: number, offset: number, words: string) => ({ taskId: LEAD, generation: 1, turn, block: 0, kind: 'text' as const, tool: '', offset, text: words });

// W11: pieces fit together, or say that something is missing.
describe('the answer in progress', () => {
  it('takes pieces in order, and what is new of an overlap', () => {
    const panel = new PanelState(emptyPanel(LEAD));
    expect(panel.delta(piece(1, 0, 'One '))).toBe(true);
    expect(panel.delta(piece(1, 4, 'two'))).toBe(true);
    expect(panel.delta(piece(1, 4, 'two three'))).toBe(true);
    panel.flush();
    expect(panel.partial?.blocks[0]?.text).toBe('One two three');
  });

  it('says that a piece is missing', () => {
    const panel = new PanelState(emptyPanel(LEAD));
    expect(panel.delta(piece(1, 9, 'late'))).toBe(false);
    expect(panel.delta(piece(1, 0, 'One'))).toBe(true);
    expect(panel.delta(piece(1, 5, 'gap'))).toBe(false);
  });

  it('is over when the answer is in the transcript, also for a piece that comes late', () => {
    const script = new Script('solo');
    script.user('Go');
    script.say(LEAD, text('All.'));
    script.result(LEAD, 'x', 'Read', { type: 'none' });
    const panel = new PanelState(script.story().panels[LEAD]!);
    expect(panel.delta(piece(1, 0, 'All.'))).toBe(true);
    panel.flush();
    expect(panel.partial).toBeNull();
    expect(panel.delta(piece(2, 0, 'Next'))).toBe(true);
    panel.flush();
    expect(panel.partial?.blocks[0]?.text).toBe('Next');
  });
});
