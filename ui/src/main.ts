import { mount } from 'svelte';
import App from './components/views/App.svelte';
import './app.css';
import { host } from './lib/host';
import { AppState } from './lib/state/app.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');

const app = new AppState(host());
mount(App, { target, props: { app } });
void app.start();
