import DOMPurify from 'dompurify';
import { marked, type Tokens } from 'marked';

/** Text of a model or a file is untrusted: no HTML of its own, no images, no links that lead anywhere. */
const renderer = {
  html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escape(text);
  },
  link(this: { parser: { parseInline(tokens: unknown[]): string } }, { href, tokens }: Tokens.Link): string {
    return `<span class="link" title="${escape(href)}" data-href="${escape(href)}">${this.parser.parseInline(tokens)}</span>`;
  },
  image({ href, text }: Tokens.Image): string {
    return `<span class="link" title="${escape(href)}">[image: ${escape(text)}]</span>`;
  },
};
marked.use({ renderer: renderer as never, gfm: true, breaks: false });

const ALLOWED = [
  'p', 'br', 'strong', 'em', 'del', 'code', 'pre', 'ul', 'ol', 'li', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table',
  'thead', 'tbody', 'tr', 'th', 'td', 'hr', 'span', 'input',
];

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (ch) => `&#${ch.charCodeAt(0)};`);
}

/** Markdown as safe HTML. */
export function render(markdown: string): string {
  const html = marked.parse(markdown, { async: false });
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: ALLOWED,
    ALLOWED_ATTR: ['class', 'title', 'data-href', 'align', 'type', 'checked', 'disabled', 'start'],
  });
}
