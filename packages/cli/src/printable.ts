// Control characters but tab and new line, and the marks that turn the direction of writing.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Text of strangers (names of tokens, descriptions of sellers, words of a node) must not move the cursor, colour the
 * screen or turn an address around. What would is shown by its number, which in JSON means the same as before.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
