// Runs inside the page under test, which has other globals than a test; page-checks.ts puts it there.
globalThis.assayChecks = {
  /** What axe finds wrong for people who use a keyboard, a screen reader or little contrast: rule and first place. */
  async inaccessible(rules) {
    const runOnly = rules && { runOnly: rules }
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'], ...runOnly })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.length} x ${nodes[0]?.html.slice(0, 160)}`)
  },

  /** How far the page is wider than its window. */
  overflowPx() {
    return Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)
  },

  /** Everything that was loaded, as it travelled. */
  loadedBytes() {
    const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    return entries.reduce((sum, entry) => sum + entry.encodedBodySize, 0)
  },

  /** The console itself, without what it shows. */
  codeBytes() {
    const files = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/console/'))
    return files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
  },

  focused() {
    return document.activeElement?.id || document.activeElement?.textContent
  },
}
