// biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write these
const notInMarkup = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** For text and attributes of HTML and XML; characters that neither can carry are left out. */
export const escapeMarkup = (text: string): string =>
  text.replace(notInMarkup, '').replace(/[&<>"']/g, (character) => entities[character] ?? '')
