import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../src/lib/generated/Event';
import type { PanelView } from '../src/lib/generated/PanelView';
import type { SessionView } from '../src/lib/generated/SessionView';
import { applyPanel, applySession, emptyPanel, emptySession } from '../src/lib/state/fold';

interface Vector {
  session: string;
  events: Event[];
  view: SessionView;
  panels: Record<string, PanelView>;
}

const FOLDER = process.env.COX_VECTORS ?? join(import.meta.dirname, '../../src-tauri/crates/cox-protocol/tests/fold');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

// W11: the window's fold and the engine's come to the same view.
describe('the shared vectors', () => {
  it('are there', () => expect(files.length).toBeGreaterThan(2));

  it.each(files)('%s', (name) => {
    const vector = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Vector;
    const view = emptySession(vector.session);
    const panels: Record<string, PanelView> = {};
    for (const event of vector.events) {
      applySession(view, event);
      if (event.taskId) applyPanel((panels[event.taskId] ??= emptyPanel(event.taskId)), event);
    }
    expect(view).toEqual(vector.view);
    expect(panels).toEqual(vector.panels);
  });

  it.each(files)('%s: an event that is already in changes nothing', (name) => {
    const vector = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Vector;
    const view = emptySession(vector.session);
    for (const event of [...vector.events, ...vector.events]) applySession(view, event);
    expect(view).toEqual(vector.view);
  });
});
