import { sceneHost } from './scenes';
import { tauriHost } from './tauri';
import type { Host } from './types';

/** Tauri when it is there; else a scene in memory, so that the whole window runs in a plain browser. */
export function host(): Host {
  return '__TAURI_INTERNALS__' in window ? tauriHost() : sceneHost(new URLSearchParams(location.search).get('scene'));
}
