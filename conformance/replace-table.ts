const [begin, end] = ['<!-- generated: npm run conformance -- --write -->', '<!-- end of generated -->']

/** The text with another table between its marks. */
export function replaceTable(text: string, table: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error('the marks of the generated table are missing')
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`
}
