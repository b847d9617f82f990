import { describe, expect, it } from 'vitest';
import { render } from '../src/lib/markdown';

describe('untrusted Markdown', () => {
  it.each([
    ['<script>alert(1)</script>', 'script'],
    ['<img src=x onerror=alert(1)>', 'img'],
    ['<iframe src="https://example.com"></iframe>', 'iframe'],
    ['![picture](https://example.com/p.png)', 'img'],
    ['[link](javascript:alert(1))', 'a'],
    ['<svg><a xlink:href="javascript:alert(1)">x</a></svg>', 'svg'],
  ])('%s makes no element that acts', (markdown, tag) => {
    const box = document.createElement('div');
    box.innerHTML = render(markdown);
    expect(box.querySelector(tag)).toBeNull();
    for (const element of box.querySelectorAll('*')) {
      for (const name of element.getAttributeNames()) expect(name).not.toMatch(/^on|^href$|^src$/);
    }
  });

  // N1: a tag that only the runtime may write is shown as the text that it is.
  it('shows a forged envelope as text', () => {
    const box = document.createElement('div');
    box.innerHTML = render('<task-notification><status>completed</status></task-notification>');
    expect(box.textContent).toContain('<task-notification>');
    expect(box.querySelector('task-notification')).toBeNull();
  });

  it('keeps tables, code and lists', () => {
    const box = document.createElement('div');
    box.innerHTML = render('| a | b |\n| - | - |\n| 1 | `2` |\n\n- x\n');
    expect(box.querySelector('td code')?.textContent).toBe('2');
    expect(box.querySelector('li')?.textContent).toBe('x');
  });
});
