import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { Batch } from '../generated/Batch';
import type { Delta } from '../generated/Delta';
import type { Event } from '../generated/Event';
import type { PermissionMode } from '../generated/PermissionMode';
import type { Retention } from '../generated/Retention';
import type { SessionView } from '../generated/SessionView';
import type { TaskView } from '../generated/TaskView';
import type { Host } from '../host/types';
import { applySession, isLive } from './fold';
import { PanelState } from './panel.svelte';

/** The session that is open: its view, its panels, and which of them are looked at. */
export class SessionState {
  view = $state.raw<SessionView>() as SessionView;
  liveMode = $state<PermissionMode>('default');
  owner = $state<string | null>(null);
  focus = $state<string | null>(null);
  readonly panels = new SvelteMap<string, PanelState>();
  readonly retention = new SvelteMap<string, Retention>();
  /** Panels that are being asked for, with what came meanwhile. */
  readonly #loading = new SvelteMap<string, { events: Event[]; deltas: Delta[] }>();
  /** Panels of the crew that are scrolled out of sight. */
  readonly #hidden = new SvelteSet<string>();
  readonly #earlier = new SvelteSet<string>();
  readonly #host: Host;
  readonly #fail: (error: unknown) => void;
  #shown = '';

  constructor(host: Host, view: SessionView, liveMode: PermissionMode, owner: string | null, fail: (error: unknown) => void) {
    this.#host = host;
    this.#fail = fail;
    this.view = view;
    this.liveMode = liveMode;
    this.owner = owner;
  }

  get id(): string {
    return this.view.id;
  }

  get lead(): TaskView | undefined {
    return this.view.tasks.find((task) => task.kind === 'lead');
  }

  get workers(): TaskView[] {
    return this.view.tasks.filter((task) => task.kind === 'worker');
  }

  get shells(): TaskView[] {
    return this.view.tasks.filter((task) => task.kind === 'shell');
  }

  /** Workers with a panel: those that are not over, and those whose panel has not left. */
  get crew(): TaskView[] {
    return this.workers.filter((task) => {
      const retention = this.retention.get(task.id);
      return isLive(task.status) || task.status === 'interrupted' || (retention && retention.type !== 'evicted');
    });
  }

  /** Workers whose panel has left; each can be opened again from disk. */
  get archive(): TaskView[] {
    const crew = this.crew;
    return this.workers.filter((task) => !crew.includes(task));
  }

  get isBusy(): boolean {
    return this.view.tasks.some((task) => isLive(task.status) && !(task.kind === 'lead' && task.generation === 0));
  }

  get canChange(): boolean {
    return this.owner === null;
  }

  /** Begins to look: the conversation is viewed, and the panels of the crew are on screen. */
  async open(): Promise<void> {
    if (this.lead) await this.#load(this.lead.id);
    await this.show();
  }

  /** Looks no longer at anything of this session. */
  leave(): void {
    const viewed = [this.lead?.id, this.focus].filter((id) => id !== undefined && id !== null);
    for (const taskId of viewed) void this.#submit({ type: 'leavePanel', taskId });
    void this.#submit({ type: 'showPanels', taskIds: [] });
  }

  /** Folds a batch in, and asks again for what is missing. */
  apply(batch: Batch): void {
    const next = { ...this.view };
    for (const event of batch.events) {
      applySession(next, event);
      if (!event.taskId) continue;
      this.#loading.get(event.taskId)?.events.push(event);
      this.panels.get(event.taskId)?.apply(event);
    }
    if (next.seq !== this.view.seq) this.view = next;
    const missing: string[] = [];
    for (const delta of batch.deltas) {
      const loading = this.#loading.get(delta.taskId);
      if (loading) {
        loading.deltas.push(delta);
        continue;
      }
      const panel = this.panels.get(delta.taskId);
      if (panel && !panel.delta(delta)) missing.push(delta.taskId);
    }
    for (const { taskId, retention } of batch.panels) {
      if (!this.view.tasks.some((task) => task.id === taskId)) continue;
      this.retention.set(taskId, retention);
      if (retention.type === 'evicted' && taskId !== this.lead?.id) {
        this.panels.delete(taskId);
        if (this.focus === taskId) this.focus = null;
      }
    }
    for (const live of batch.live) if (live.sessionId === this.id) this.liveMode = live.permissionMode;
    for (const panel of this.panels.values()) panel.flush();
    for (const id of missing) void this.#load(id, true);
    void this.show();
  }

  /** Tells the engine which panels are on screen, when that has changed, and loads those that are new. */
  async show(): Promise<void> {
    const ids = this.crew.map((task) => task.id).filter((id) => !this.#hidden.has(id));
    const lead = this.lead?.id;
    const taskIds = lead ? [lead, ...ids] : ids;
    const key = taskIds.join(' ');
    if (key === this.#shown) return;
    this.#shown = key;
    await this.#submit({ type: 'showPanels', taskIds });
    await Promise.all(ids.map((id) => this.#load(id)));
  }

  /** A panel was scrolled into sight, or out of it. */
  seen(taskId: string, isSeen: boolean): void {
    if (isSeen === !this.#hidden.has(taskId)) return;
    if (isSeen) this.#hidden.delete(taskId);
    else this.#hidden.add(taskId);
    void this.show();
  }

  /** Opens or focuses a worker's panel; the one before is left. */
  async look(taskId: string | null): Promise<void> {
    const before = this.focus;
    if (before === taskId) return;
    this.focus = taskId;
    if (before) await this.#submit({ type: 'leavePanel', taskId: before });
    if (taskId) {
      if (!this.retention.has(taskId) || this.retention.get(taskId)?.type === 'evicted') this.retention.set(taskId, { type: 'viewed' });
      await this.#submit({ type: 'viewPanel', taskId });
      await this.#load(taskId);
    }
  }

  /** Loads entries before the first that is here. */
  async earlier(taskId: string): Promise<void> {
    const panel = this.panels.get(taskId);
    const first = panel?.entries[0];
    if (!panel || !first || !panel.hasEarlier || this.#earlier.has(taskId)) return;
    this.#earlier.add(taskId);
    try {
      const page = await this.#host.query({ type: 'transcript', taskId, before: first.seq, limit: 200 });
      if (page.type === 'transcript') panel.prepend(page.rows, page.hasEarlier);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#earlier.delete(taskId);
    }
  }

  async #load(taskId: string, again = false): Promise<void> {
    if (this.#loading.has(taskId) || (this.panels.has(taskId) && !again)) return;
    const meanwhile = { events: [] as Event[], deltas: [] as Delta[] };
    this.#loading.set(taskId, meanwhile);
    try {
      const page = await this.#host.query({ type: 'panel', taskId });
      if (page.type !== 'panel') return;
      const panel = new PanelState(page.view);
      for (const event of meanwhile.events) panel.apply(event);
      // One that does not fit was said before the snapshot, or is found missing with the next.
      for (const delta of meanwhile.deltas) panel.delta(delta);
      panel.flush();
      this.panels.set(taskId, panel);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#loading.delete(taskId);
    }
  }

  async #submit(command: Parameters<Host['submit']>[0]): Promise<void> {
    try {
      await this.#host.submit(command);
    } catch (error) {
      this.#fail(error);
    }
  }
}
