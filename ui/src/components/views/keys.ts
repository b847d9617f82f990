import type { AppState } from '../../lib/state/app.svelte';

/** One thing that a key does. */
export interface Key {
  keys: string;
  does: string;
  fits: (event: KeyboardEvent) => boolean;
  go: (app: AppState) => void;
}

const ctrl = (key: string) => (event: KeyboardEvent) => (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === key;

function step(app: AppState, by: number): void {
  const session = app.session;
  if (!session) return;
  const crew = session.crew;
  if (!crew.length) return;
  const at = crew.findIndex((task) => task.id === session.focus);
  const next = crew[(at < 0 ? (by > 0 ? 0 : crew.length - 1) : at + by + crew.length) % crew.length];
  if (!next) return;
  void session.look(next.id);
  document.querySelector<HTMLElement>(`[data-testid="panel-${CSS.escape(next.name)}"] [data-testid="panel-composer"]`)?.focus();
}

/** Every key of the window, as the help sheet lists them. */
export const KEYS: Key[] = [
  { keys: 'Ctrl N', does: 'New session in this project', fits: ctrl('n'), go: (app) => void app.newSession(null) },
  { keys: 'Ctrl O', does: 'Open a folder', fits: ctrl('o'), go: (app) => void app.pickProject() },
  { keys: 'Ctrl L', does: 'Write to the coordinator', fits: ctrl('l'), go: () => document.getElementById('composer')?.focus() },
  { keys: 'Ctrl ]', does: 'Next panel', fits: ctrl(']'), go: (app) => step(app, 1) },
  { keys: 'Ctrl [', does: 'Previous panel', fits: ctrl('['), go: (app) => step(app, -1) },
  {
    keys: 'Ctrl .', does: 'Stop the worker in focus; else interrupt the coordinator', fits: ctrl('.'),
    go: (app) => {
      const session = app.session;
      if (!session) return;
      const worker = session.workers.find((task) => task.id === session.focus);
      if (worker && !worker.outcome) void app.submit({ type: 'stopTask', taskId: worker.id });
      else void app.submit({ type: 'interruptTurn', sessionId: session.id });
    },
  },
  {
    keys: 'Ctrl Shift .', does: 'Stop all', fits: (event) => event.ctrlKey && event.shiftKey && (event.key === '>' || event.key === '.'),
    go: (app) => app.session && void app.submit({ type: 'stopAll', sessionId: app.session.id }),
  },
  { keys: 'Ctrl J', does: 'Go to the oldest card; then Tab and Enter answer it', fits: ctrl('j'), go: () => document.querySelector<HTMLElement>('[data-testid="card"] button')?.focus() },
  { keys: 'Ctrl K', does: 'Search in all transcripts', fits: ctrl('k'), go: (app) => (app.sheet = 'search') },
  { keys: 'Ctrl ,', does: 'Settings', fits: ctrl(','), go: (app) => (app.sheet = 'settings') },
  { keys: 'F1', does: 'This list', fits: (event) => event.key === 'F1', go: (app) => (app.sheet = 'help') },
];

/** Keys that only the list names: they belong to the place where they are typed. */
export const LOCAL: { keys: string; does: string }[] = [
  { keys: 'Enter', does: 'Send; on a focused card, press its button' },
  { keys: 'Shift Enter', does: 'A new line' },
  { keys: 'Escape', does: 'Close a sheet' },
];
