import { getContext, setContext } from 'svelte';
import type { AppState } from './app.svelte';

const KEY = Symbol('app');

/** Makes the window's state known to everything below. */
export function provideApp(app: AppState): void {
  setContext(KEY, app);
}

/** The window's state. Throws outside of `App.svelte`. */
export function useApp(): AppState {
  const app = getContext<AppState | undefined>(KEY);
  if (!app) throw new Error('no window state: call provideApp() in a component above');
  return app;
}
