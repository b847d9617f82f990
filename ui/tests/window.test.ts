import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import App from '../src/components/views/App.svelte';
import type { Event } from '../src/lib/generated/Event';
import { MemoryHost, type Story } from '../src/lib/host/memory';
import { LEAD, Script, SESSION, blank, call, crew, text } from '../src/lib/host/scenes';
import { AppState } from '../src/lib/state/app.svelte';

const user = userEvent.setup();

async function show(story: Story, prepare: (host: MemoryHost) => void = () => {}) {
  const host = new MemoryHost(story);
  prepare(host);
  const app = new AppState(host);
  render(App, { props: { app } });
  await app.start();
  await tick();
  return { host, app };
}

async function showSession(story: Story = crew(), prepare?: (host: MemoryHost) => void) {
  const shown = await show(story, prepare);
  await shown.app.openSession(SESSION);
  await tick();
  return shown;
}

const panel = (name: string) => screen.getByRole('article', { name: `Worker ${name}` });
const last = <T>(list: T[]) => list.at(-1);

beforeEach(() => vi.useRealTimers());

describe('the conversation', () => {
  it('sends with Enter and breaks the line with Shift+Enter', async () => {
    const { host } = await showSession();
    const box = screen.getByRole('textbox', { name: 'Message the coordinator' });
    await user.type(box, 'First{Shift>}{Enter}{/Shift}second{Enter}');
    expect(last(host.submitted)).toEqual({ type: 'sendMessage', taskId: LEAD, text: 'First\nsecond' });
    expect(box).toHaveValue('');
  });

  it('keeps what was written when it could not be sent', async () => {
    await showSession(crew(), (host) => host.replies.set('sendMessage', { code: 'queue_full', message: '100 messages wait already', hint: null }));
    const box = screen.getByRole('textbox', { name: 'Message the coordinator' });
    await user.type(box, 'Hello{Enter}');
    expect(box).toHaveValue('Hello');
    expect(screen.getByRole('alert')).toHaveTextContent('100 messages wait already');
  });

  // N35
  it('writes to a worker that is named with @', async () => {
    const { host } = await showSession();
    await user.type(screen.getByRole('textbox', { name: 'Message the coordinator' }), '@auth-bug look again{Enter}');
    expect(last(host.submitted)).toEqual({ type: 'sendMessage', taskId: 't_1', text: 'look again' });
  });

  it('shows a message that waits, and takes it back', async () => {
    const { host } = await showSession();
    host.say({ events: [{ ...base(900), taskId: LEAD, kind: 'messageQueued', message: { id: 'm_9', from: { type: 'user' }, to: { type: 'agent', taskId: LEAD }, summary: null, text: 'And the docs' } } as Event] });
    await user.click(await screen.findByRole('button', { name: 'Take back' }));
    expect(last(host.submitted)).toEqual({ type: 'withdrawMessage', messageId: 'm_9' });
  });

  // R120
  it('has a heading for each turn', async () => {
    await showSession();
    expect(within(screen.getByRole('main')).getAllByRole('heading', { level: 3 }).length).toBeGreaterThan(1);
  });
});

function base(seq: number) {
  return { v: 1, seq, sessionId: SESSION, parentTaskId: null, toolUseId: null, generation: 1, turn: 3, at: Date.now() };
}

describe('panels', () => {
  it('message, stop and continue a worker', async () => {
    const { host } = await showSession();
    await user.type(within(panel('auth-bug')).getByRole('textbox'), 'Faster{Enter}');
    expect(last(host.submitted)).toEqual({ type: 'sendMessage', taskId: 't_1', text: 'Faster' });
    await user.click(within(panel('auth-bug')).getByRole('button', { name: 'Stop' }));
    expect(last(host.submitted)).toEqual({ type: 'stopTask', taskId: 't_1' });
    host.say({ panels: [{ taskId: 't_4', retention: { type: 'viewed' } }] });
    await tick();
    const go = within(panel('perf-probe')).getByRole('button', { name: 'Continue' });
    expect(go).toBeDisabled();
    await user.type(within(panel('perf-probe')).getByRole('textbox'), 'Once more');
    await user.click(go);
    expect(last(host.submitted)).toEqual({ type: 'sendMessage', taskId: 't_4', text: 'Once more' });
  });

  // W12, B166, N36
  it('count down, are kept, leave, and come back from the list', async () => {
    const { host } = await showSession();
    host.say({ panels: [{ taskId: 't_2', retention: { type: 'leaving', evictAt: Date.now() + 18_000 } }] });
    await tick();
    expect(within(panel('auth-tests')).getByText(/leaves in 0:1[789]/)).toBeInTheDocument();
    await user.click(within(panel('auth-tests')).getByRole('button', { name: 'Keep' }));
    expect(host.submitted).toContainEqual({ type: 'keepPanel', taskId: 't_2', keep: true });
    host.say({ panels: [{ taskId: 't_2', retention: { type: 'evicted' } }] });
    await tick();
    expect(screen.queryByRole('article', { name: 'Worker auth-tests' })).toBeNull();
    await user.click(screen.getByRole('button', { name: /Show finished/ }));
    const queries = host.queried.length;
    await user.click(screen.getByTestId('archive-auth-tests'));
    expect(panel('auth-tests')).toBeInTheDocument();
    expect(host.queried.slice(queries)).toContainEqual({ type: 'panel', taskId: 't_2' });
  });

  it('tell the engine which are on screen, and which is looked at', async () => {
    const { host } = await showSession();
    const shown = last(host.submitted.filter((command) => command.type === 'showPanels'));
    expect(shown).toEqual({ type: 'showPanels', taskIds: [LEAD, 't_1', 't_3'] });
    await user.click(within(panel('verify')).getByRole('textbox'));
    expect(last(host.submitted)).toEqual({ type: 'viewPanel', taskId: 't_3' });
    await user.click(within(panel('auth-bug')).getByRole('textbox'));
    await waitFor(() => expect(host.submitted.slice(-2)).toEqual([{ type: 'leavePanel', taskId: 't_3' }, { type: 'viewPanel', taskId: 't_1' }]));
  });

  it('stream, and ask again when a piece is missing', async () => {
    const { host } = await showSession();
    const piece = { taskId: 't_1', generation: 1, turn: 7, block: 0, kind: 'text' as const, tool: '' };
    host.say({ deltas: [{ ...piece, offset: 0, text: 'Running ' }] });
    host.say({ deltas: [{ ...piece, offset: 8, text: 'the suite' }] });
    await tick();
    expect(panel('auth-bug')).toHaveTextContent('Running the suite');
    const before = host.queried.length;
    host.say({ deltas: [{ ...piece, offset: 40, text: 'lost' }] });
    await waitFor(() => expect(host.queried.slice(before)).toContainEqual({ type: 'panel', taskId: 't_1' }));
  });

  it('expand a call to its arguments and its output', async () => {
    await showSession();
    await user.click(within(panel('auth-bug')).getByRole('button', { name: /Read src\/auth\/validate\.ts/ }));
    expect(within(panel('auth-bug')).getByLabelText('Arguments')).toHaveTextContent('src/auth/validate.ts');
  });

  it('mount at most 150 rows of 20,000', async () => {
    const script = new Script('solo');
    script.user('Go');
    for (let n = 0; n < 10_000; n += 1) {
      script.say(LEAD, call(`c${n}`, 'Read', { path: `f${n}` }));
      script.result(LEAD, `c${n}`, 'Read', { type: 'none' });
    }
    const { app } = await showSession(script.story());
    expect(app.session?.panels.get(LEAD)?.entries.length).toBeGreaterThan(20_000);
    const log = screen.getByRole('log', { name: 'Transcript of solo' });
    expect(log.children.length).toBeLessThanOrEqual(150);
    expect(within(log).getByText('f9999')).toBeInTheDocument();
  });
});

describe('cards', () => {
  // W34
  it('never take the focus, and ignore Enter in their first half second', async () => {
    let now = 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { host } = await showSession();
    expect(document.activeElement).toBe(document.body);
    const allow = screen.getByRole('button', { name: 'Allow once' });
    allow.focus();
    now += 499;
    await user.keyboard('{Enter}');
    expect(host.submitted.some((command) => command.type === 'answerInbox')).toBe(false);
    now += 1;
    await user.keyboard('{Enter}');
    expect(last(host.submitted)).toEqual({ type: 'answerInbox', id: 'i_1', answer: { type: 'allowOnce' } });
    vi.restoreAllMocks();
  });

  it('show exactly what will run, who asks, and the rule of "always"', async () => {
    await showSession();
    const card = screen.getByRole('group', { name: 'Permission for coordinator > verify' });
    expect(card).toHaveTextContent('verify wants to run a command in the project folder');
    expect(within(card).getByText('npm run db:reset -- --env test', { selector: 'pre' })).toBeInTheDocument();
    expect(within(card).getByRole('button', { name: 'Always allow Bash(npm run db:reset -- --env test)' })).toBeInTheDocument();
  });

  it('deny with a reason', async () => {
    const { host } = await showSession();
    await user.click(screen.getByRole('button', { name: 'Deny…' }));
    await user.type(screen.getByRole('textbox', { name: 'Reason, for verify to read' }), 'Not on this database{Enter}');
    expect(last(host.submitted)).toEqual({ type: 'answerInbox', id: 'i_1', answer: { type: 'deny', reason: 'Not on this database' } });
  });

  it('go when they are answered', async () => {
    const { host } = await showSession();
    host.say({ events: [{ ...base(901), taskId: 't_3', kind: 'inboxClosed', id: 'i_1', answer: { type: 'allowOnce' } } as Event] });
    await tick();
    expect(screen.queryByRole('group', { name: /Permission/ })).toBeNull();
  });

  it('ask a question, and take own words', async () => {
    const script = new Script();
    script.user('Clean up');
    script.push(LEAD, { kind: 'inboxOpened', item: { id: 'i_q', sessionId: SESSION, taskId: LEAD, asker: 'coordinator', callId: 'q', reason: null, at: 1, ask: { type: 'question', questions: [{ header: 'API', question: 'What shall become of it?', options: [{ label: 'Delete', description: 'd' }, { label: 'Keep', description: 'k' }], multiSelect: false }] } } });
    const { host } = await showSession(script.story());
    const answer = screen.getByRole('button', { name: 'Answer' });
    expect(answer).toBeDisabled();
    await user.click(screen.getByRole('button', { name: /Keep/ }));
    await user.type(screen.getByRole('textbox', { name: 'Your own words' }), 'for a year');
    await user.click(answer);
    expect(last(host.submitted)).toEqual({ type: 'answerInbox', id: 'i_q', answer: { type: 'chosen', answers: ['Keep, for a year'] } });
  });
});

describe('folders', () => {
  it('open when dropped', async () => {
    const { host } = await show({ snapshot: { ...blank(), projects: [] }, views: [], panels: {} }, (host) => host.replies.set('newSession', { code: 'internal', message: 'x', hint: null }));
    host.drop({ type: 'enter', paths: ['/home/me/code/webshop'] });
    await tick();
    expect(screen.getByTestId('drop-overlay')).toHaveTextContent('Drop to open this folder');
    host.drop({ type: 'drop', paths: ['/home/me/code/webshop'] });
    await waitFor(() => expect(host.submitted).toContainEqual({ type: 'openProject', path: '/home/me/code/webshop', confirmed: false }));
    expect(screen.queryByTestId('drop-overlay')).toBeNull();
  });

  it('are refused in words when they are two, or no folder', async () => {
    const { host } = await show(crew(), (host) => host.replies.set('openProject', { code: 'folder_unusable', message: '/a.txt is a file, not a folder', hint: null }));
    host.drop({ type: 'drop', paths: ['/a', '/b'] });
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('only one folder can be opened at a time'));
    expect(host.submitted.some((command) => command.type === 'openProject')).toBe(false);
    host.drop({ type: 'drop', paths: ['/a.txt'] });
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('is a file, not a folder'));
  });

  // W33
  it('ask first where the engine says so', async () => {
    let asked = 0;
    const { host } = await show(crew(), (host) => host.replies.set('openProject', () => {
      asked += 1;
      if (asked === 1) throw { code: 'needs_confirmation', message: '/ is the whole file system', hint: null };
      return { type: 'project', project: blank().projects[0]! };
    }));
    host.drop({ type: 'drop', paths: ['/'] });
    const dialog = await screen.findByRole('dialog', { name: 'Open this folder?' });
    expect(dialog).toHaveTextContent('/ is the whole file system');
    await user.click(within(dialog).getByRole('button', { name: 'Open it' }));
    expect(host.submitted).toContainEqual({ type: 'openProject', path: '/', confirmed: true });
  });
});

describe('the window', () => {
  it('comes back to the session that changed last', async () => {
    const { app } = await show(crew());
    await waitFor(() => expect(app.session?.id).toBe(SESSION));
    expect(await screen.findByRole('article', { name: 'Worker auth-bug' })).toBeInTheDocument();
  });

  it('offers three ways to begin', async () => {
    const snapshot = blank();
    const { host } = await show({ snapshot: { ...snapshot, settings: { ...snapshot.settings, onboarded: false } }, views: [], panels: {} });
    await user.click(screen.getByRole('button', { name: /Rehearsal/ }));
    const saved = host.submitted.find((command) => command.type === 'saveSettings');
    expect(saved?.type === 'saveSettings' && saved.settings).toMatchObject({ onboarded: true, provider: { kind: 'rehearsal' } });
    expect(await screen.findByTestId('window')).toBeInTheDocument();
  });

  it('says why it can’t open its data, and tries again', async () => {
    const host = new MemoryHost(crew());
    const attach = host.attach.bind(host);
    host.attach = () => Promise.reject({ code: 'database_newer', message: 'The database comes from a newer version.', hint: 'Install the newer Coxswain.' });
    const app = new AppState(host);
    render(App, { props: { app } });
    await app.start();
    await tick();
    expect(screen.getAllByRole('alert')[0]).toHaveTextContent('The database comes from a newer version. Install the newer Coxswain.');
    host.attach = attach;
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByTestId('window')).toBeInTheDocument();
  });

  it('lists its keys, and they work', async () => {
    const { host } = await showSession();
    await user.keyboard('{F1}');
    const help = screen.getByRole('dialog', { name: 'Keys' });
    for (const does of ['New session in this project', 'Open a folder', 'Next panel', 'Settings', 'Stop all']) expect(help).toHaveTextContent(does);
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).toBeNull();
    await user.keyboard('{Control>}]{/Control}');
    expect(document.activeElement).toBe(within(panel('auth-bug')).getByRole('textbox'));
    await user.keyboard('{Control>}.{/Control}');
    expect(last(host.submitted)).toEqual({ type: 'stopTask', taskId: 't_1' });
    await user.keyboard('{Control>}j{/Control}');
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Allow once' }));
    await user.keyboard('{Control>}l{/Control}');
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Message the coordinator' }));
  });

  it('saves settings, and shows where the data is', async () => {
    const { host } = await showSession();
    await user.keyboard('{Control>},{/Control}');
    const sheet = screen.getByRole('dialog', { name: 'Settings' });
    expect(sheet).toHaveTextContent('/home/me/.local/share/coxswain');
    await user.selectOptions(within(sheet).getByRole('combobox', { name: 'Colours' }), 'light');
    await user.click(within(sheet).getByRole('button', { name: 'Save' }));
    expect(last(host.submitted)).toMatchObject({ type: 'saveSettings', settings: { theme: 'light' } });
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe('light'));
  });

  // W25
  it('lets nothing ask only after the folder’s name was typed', async () => {
    const { host } = await showSession();
    await user.click(screen.getByTestId('permission-mode'));
    await user.click(screen.getByRole('menuitemradio', { name: /Nothing asks/ }));
    const dialog = screen.getByRole('dialog', { name: 'Let nothing ask?' });
    const go = within(dialog).getByRole('button', { name: 'Let nothing ask' });
    await user.type(within(dialog).getByRole('textbox'), 'webshopp');
    expect(go).toBeDisabled();
    await user.type(within(dialog).getByRole('textbox'), '{Backspace}');
    await user.click(go);
    expect(last(host.submitted)).toEqual({ type: 'setPermissionMode', sessionId: SESSION, permissionMode: 'bypassPermissions', confirm: 'webshop' });
  });

  it('asks for everything again after a gap', async () => {
    const { host } = await showSession();
    const before = host.queried.length;
    host.say({ gap: true });
    await waitFor(() => expect(host.queried.slice(before)).toContainEqual({ type: 'session', sessionId: SESSION }));
  });

  // W14, N24
  it('offers to go on with what was interrupted', async () => {
    const script = new Script();
    script.user('Audit');
    script.say(LEAD, text('Sent.'), call('c1', 'Agent', { description: 'Audit refunds', prompt: 'p' }));
    script.worker('t_1', 'refunds', 'Audit refunds', 4, 'c1');
    script.push('t_1', { kind: 'taskInterrupted', reason: 'ended' });
    const { host } = await showSession(script.story());
    expect(screen.getByText(/refunds was interrupted when Coxswain ended/)).toBeInTheDocument();
    await user.click(screen.getByTestId('continue-all'));
    expect(host.submitted).toContainEqual({ type: 'continueTask', taskId: 't_1' });
  });
});
