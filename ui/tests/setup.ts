import '@testing-library/jest-dom/vitest';

// jsdom has no layout and no media queries; what the window asks of them is answered here.
window.matchMedia ??= ((query: string) => ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} })) as never;
Element.prototype.scrollIntoView ??= () => {};
