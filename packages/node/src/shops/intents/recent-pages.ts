/** Pages of a sequence that only grows at its end, oldest first, by what comes before them. */
export type RecentPages<Item> = (after: number, filter?: readonly string[]) => Promise<readonly Item[]>

/**
 * Thousands of readers come back at once, as after a restart, and ask for the same: a full page never changes, so it is
 * read once for all of them. The last one, which is not full, each reader reads itself: what was written since
 * another began to read it is known to nobody else.
 */
export function createRecentPages<Item>(
  { size, pagesMax = 128 }: { size: number; pagesMax?: number },
  read: (after: number, limit: number, filter?: readonly string[]) => Promise<readonly Item[]>,
): RecentPages<Item> {
  const pages = new Map<string, Promise<readonly Item[]>>()
  return async (after, filter) => {
    const key = filter === undefined ? `${after}` : `${after} ${filter.join(' ')}`
    const known = pages.get(key)
    // Moved to the end: the first is the one that nobody asked for longest.
    if (known) pages.delete(key)
    const page = known ?? read(after, size, filter)
    pages.set(key, page)
    for (const oldest of pages.keys()) {
      if (pages.size <= pagesMax) break
      pages.delete(oldest)
    }
    const items = await page.catch(() => [])
    if (items.length === size) return items
    if (pages.get(key) === page) pages.delete(key)
    return known ? read(after, size, filter) : page
  }
}
