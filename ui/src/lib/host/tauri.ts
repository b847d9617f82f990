import { Channel, invoke } from '@tauri-apps/api/core';
import { getCurrentWebview } from '@tauri-apps/api/webview';
import { open } from '@tauri-apps/plugin-dialog';
import type { Batch } from '../generated/Batch';
import type { Host } from './types';

/** The engine behind Tauri: three commands, one channel. */
export function tauriHost(): Host {
  return {
    attach(onBatch) {
      const channel = new Channel<Batch>();
      channel.onmessage = onBatch;
      return invoke('attach', { channel });
    },
    submit: (command) => invoke('submit', { command }),
    query: (query) => invoke('query', { query }),
    pickFolder: () => open({ directory: true, multiple: false, title: 'Open a project folder' }),
    initialFolder: () => invoke('initial_folder'),
    onDrop(listen) {
      void getCurrentWebview().onDragDropEvent(({ payload }) => {
        if (payload.type === 'enter') listen({ type: 'enter', paths: payload.paths });
        else if (payload.type === 'drop') listen({ type: 'drop', paths: payload.paths });
        else if (payload.type === 'leave') listen({ type: 'leave' });
      });
    },
  };
}
