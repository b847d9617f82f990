import { SvelteMap } from 'svelte/reactivity';
import type { Answer } from '../generated/Answer';
import type { Batch } from '../generated/Batch';
import type { Command } from '../generated/Command';
import type { CoxError } from '../generated/CoxError';
import type { Environment } from '../generated/Environment';
import type { InboxItem } from '../generated/InboxItem';
import type { ProjectRow } from '../generated/ProjectRow';
import type { ProviderSettings } from '../generated/ProviderSettings';
import type { Reply } from '../generated/Reply';
import type { SessionMode } from '../generated/SessionMode';
import type { SessionRow } from '../generated/SessionRow';
import type { Settings } from '../generated/Settings';
import { toCoxError, type Drop, type Host } from '../host/types';
import { sortInbox } from './fold';
import { SessionState } from './session.svelte';

/** A message at the edge of the window. */
export interface Toast {
  id: number;
  error: CoxError;
}

/** Something that the user has to confirm before it is done. */
export interface Confirmation {
  title: string;
  message: string;
  action: string;
  go: () => Promise<void>;
}

/** Which sheet lies over the window. */
export type Sheet = 'help' | 'settings' | 'search' | null;

/** Everything that the window shows. */
export class AppState {
  phase = $state<'loading' | 'ready' | 'broken'>('loading');
  broken = $state<CoxError | null>(null);
  projects = $state.raw<ProjectRow[]>([]);
  readonly sessions = new SvelteMap<string, SessionRow>();
  inbox = $state.raw<InboxItem[]>([]);
  settings = $state.raw<Settings>() as Settings;
  environment = $state.raw<Environment>() as Environment;
  session = $state<SessionState | null>(null);
  opening = $state<string | null>(null);
  project = $state<string | null>(null);
  sheet = $state<Sheet>(null);
  drop = $state<string[] | null>(null);
  confirmation = $state<Confirmation | null>(null);
  toasts = $state<Toast[]>([]);
  /** The time that countdowns and ages go by; moves once a second. */
  now = $state(Date.now());
  readonly host: Host;
  #waiting: Batch[] = [];
  #toast = 0;

  constructor(host: Host) {
    this.host = host;
  }

  get currentProject(): ProjectRow | undefined {
    const id = this.session?.view.projectId ?? this.project;
    return this.projects.find((project) => project.id === id);
  }

  /** Sessions of a project, the one that changed last first. */
  sessionsOf(projectId: string): SessionRow[] {
    const rows = [...this.sessions.values()].filter((row) => row.projectId === projectId);
    return rows.sort((a, b) => b.updatedAt - a.updatedAt || b.id.localeCompare(a.id));
  }

  async start(): Promise<void> {
    setInterval(() => (this.now = Date.now()), 1_000);
    this.host.onDrop((drop) => void this.dropped(drop));
    await this.attach();
    if (this.phase !== 'ready') return;
    const folder = await this.host.initialFolder().catch(() => null);
    if (folder) await this.openProject(folder);
    else if (this.settings.onboarded) await this.#openLast();
  }

  /** Comes back to the session that changed last. */
  async #openLast(): Promise<void> {
    const last = [...this.sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt)[0];
    if (last) await this.openSession(last.id);
  }

  /** Attaches to the engine; also after it could not be opened. */
  async attach(quietly = false): Promise<void> {
    if (!quietly) this.phase = 'loading';
    this.broken = null;
    try {
      const snapshot = await this.host.attach((batch) => this.#receive(batch));
      this.projects = snapshot.projects;
      this.project ??= snapshot.projects[0]?.id ?? null;
      for (const row of snapshot.sessions) this.sessions.set(row.id, row);
      this.inbox = sortInbox(snapshot.inbox);
      this.settings = snapshot.settings;
      this.environment = snapshot.environment;
      this.phase = 'ready';
    } catch (error) {
      this.broken = toCoxError(error);
      this.phase = 'broken';
    }
  }

  #receive(batch: Batch): void {
    for (const row of batch.sessions) this.sessions.set(row.id, row);
    if (batch.projects) this.projects = batch.projects;
    if (batch.environment) this.environment = batch.environment;
    this.#foldInbox(batch);
    if (this.opening) this.#waiting.push(batch);
    else this.session?.apply(batch);
    if (batch.gap) void this.#recover();
  }

  /** Something is missing: everything is asked for again. */
  async #recover(): Promise<void> {
    await this.attach(true);
    if (this.session && this.phase === 'ready') await this.openSession(this.session.id);
  }

  #foldInbox(batch: Batch): void {
    let inbox = this.inbox;
    for (const event of batch.events) {
      if (event.kind === 'inboxOpened' && !inbox.some((item) => item.id === event.item.id)) inbox = [...inbox, event.item];
      else if (event.kind === 'inboxClosed') inbox = inbox.filter((item) => item.id !== event.id);
    }
    if (inbox !== this.inbox) this.inbox = sortInbox(inbox);
  }

  /** Shows a session: what it is now, and then everything after that. */
  async openSession(sessionId: string): Promise<void> {
    this.session?.leave();
    this.opening = sessionId;
    this.#waiting = [];
    try {
      // Entries are said only of sessions that somebody looks at: first the look, then the view that counts.
      const first = await this.host.query({ type: 'session', sessionId });
      const lead = first.type === 'session' ? first.view.tasks.find((task) => task.kind === 'lead') : undefined;
      if (lead) await this.host.submit({ type: 'viewPanel', taskId: lead.id });
      const page = await this.host.query({ type: 'session', sessionId });
      if (page.type !== 'session' || this.opening !== sessionId) return;
      const session = new SessionState(this.host, page.view, page.liveMode, page.owner, (error) => this.fail(error));
      this.session = session;
      this.project = page.view.projectId;
      this.opening = null;
      for (const batch of this.#waiting.splice(0)) session.apply(batch);
      await session.open();
    } catch (error) {
      this.opening = null;
      this.fail(error);
    }
  }

  async pickProject(): Promise<void> {
    const folder = await this.host.pickFolder().catch((error) => this.fail(error));
    if (folder) await this.openProject(folder);
    else if (this.settings.onboarded) await this.#openLast();
  }

  /** Opens a folder, after a question where one is needed. True when it is open. */
  async openProject(path: string, confirmed = false): Promise<void> {
    try {
      const reply = await this.host.submit({ type: 'openProject', path, confirmed });
      if (reply.type !== 'project') return;
      const project = reply.project;
      this.projects = [project, ...this.projects.filter((known) => known.id !== project.id)];
      this.project = project.id;
      const last = this.sessionsOf(project.id)[0];
      if (last) await this.openSession(last.id);
      else await this.newSession(null);
    } catch (error) {
      const known = toCoxError(error);
      if (known.code !== 'needs_confirmation') return this.fail(error);
      this.confirmation = {
        title: 'Open this folder?', message: known.message, action: 'Open it', go: () => this.openProject(path, true),
      };
    }
  }

  async dropped(drop: Drop): Promise<void> {
    if (drop.type === 'enter') this.drop = drop.paths;
    else this.drop = null;
    if (drop.type !== 'drop') return;
    const [path, second] = drop.paths;
    if (path === undefined) return this.say('Nothing that can be opened was dropped.', 'Drop a folder from your file manager.');
    if (second !== undefined) {
      return this.say(`${drop.paths.length} things were dropped; only one folder can be opened at a time.`, 'Drop one project folder.');
    }
    await this.openProject(path);
  }

  async newSession(mode: SessionMode | null, projectId = this.currentProject?.id): Promise<void> {
    if (!projectId) return this.say('There is no project yet.', 'Drop a folder on the window, or press Ctrl+O.');
    const command: Command = {
      type: 'newSession', projectId, mode, permissionMode: null, provider: null, model: null, outputSchema: null,
    };
    const reply = await this.submit(command);
    if (reply?.type === 'session') await this.openSession(reply.sessionId);
  }

  async send(taskId: string, text: string): Promise<boolean> {
    return (await this.submit({ type: 'sendMessage', taskId, text })) !== null;
  }

  async answer(item: InboxItem, answer: Answer): Promise<void> {
    await this.submit({ type: 'answerInbox', id: item.id, answer });
  }

  async saveSettings(settings: Settings): Promise<boolean> {
    if ((await this.submit({ type: 'saveSettings', settings })) === null) return false;
    this.settings = settings;
    const page = await this.host.query({ type: 'environment' }).catch(() => null);
    if (page?.type === 'environment') this.environment = page.environment;
    return true;
  }

  /** Asks a server for its models. Throws a `CoxError`. */
  async check(provider: ProviderSettings): Promise<string[]> {
    const page = await this.host.query({ type: 'checkProvider', provider });
    return page.type === 'provider' ? page.models : [];
  }

  /** Submits a command; a failure is shown, and gives null. */
  async submit(command: Command): Promise<Reply | null> {
    try {
      return await this.host.submit(command);
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  fail(error: unknown): void {
    this.#toast += 1;
    this.toasts = [...this.toasts.slice(-3), { id: this.#toast, error: toCoxError(error) }];
  }

  say(message: string, hint: string): void {
    this.fail({ code: 'invalid_input', message, hint } satisfies CoxError);
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }
}
